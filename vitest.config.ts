import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts", "bench/**/*.test.ts"],
    exclude: ["**/node_modules/**", "test/kubernetes/**", "test/aws/**", "test/kubectl/**"],
    globalSetup: ["test/random/global-setup.ts"],
    setupFiles: ["test/random/properties.ts"],
    // Wide, because a machine may be building something beside the tests; none of them waits for it in vain.
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
