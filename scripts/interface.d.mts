/** The hash of what an addon's crate exports, and of its engine's numbers. */
export declare function interfaceHash(crate: string): string;
/** The text of the interface.rs of an addon's crate. */
export declare function interfaceSource(crate: string): string;
/** Writes the file of each addon that differs. */
export declare function writeInterfaces(): void;
