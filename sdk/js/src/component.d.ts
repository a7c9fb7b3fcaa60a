import type { Plugin } from "./index.js";

/** The exports `about` and one for each role of the plugin. The file that `syrch-host plugin build` writes calls it. */
export declare function component(plugin: Plugin<any>, ports: { [name: string]: unknown }): any;
