// redline-engine in two threads, which share the port and the store of their address.
import process from 'node:process';
import { runThreads } from '@redline/http';

process.env.CONTENDER = 'redline-engine';
runThreads(2, new URL('node.js', import.meta.url));
