/// <reference types="node" />
export {};
