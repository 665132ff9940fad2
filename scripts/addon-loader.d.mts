/** The text of the native.cjs of packages/ADDON. */
export declare function addonLoader(addon: string): string;
/** Writes the files that differ. */
export declare function writeAddonLoaders(): void;
