#!/usr/bin/env node
// Not in dist, so that npm finds it when a fresh clone is installed before it is built.
import '../dist/inspect/cli.js';
