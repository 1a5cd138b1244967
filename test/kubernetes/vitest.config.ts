import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/kubernetes/**/*.test.ts"],
    testTimeout: 300_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
