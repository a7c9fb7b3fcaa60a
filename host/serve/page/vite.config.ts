import { defineConfig } from "vite";

// One script and one style sheet with fixed names, which the host embeds: no request leaves it.
export default defineConfig({
  base: "/",
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: { entryFileNames: "app.js", chunkFileNames: "[name].js", assetFileNames: "app[extname]" },
    },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
});
