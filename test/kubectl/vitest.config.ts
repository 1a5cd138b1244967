import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/kubectl/**/*.test.ts"],
    testTimeout: 240_000,
    hookTimeout: 120_000,
  },
});
