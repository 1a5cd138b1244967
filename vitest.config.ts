import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts", "bench/**/*.test.ts"],
    exclude: ["**/node_modules/**", "test/kubernetes/**", "test/aws/**", "test/kubectl/**"],
    globalSetup: ["test/random/global-setup.ts"],
    setupFiles: ["test/random/properties.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
