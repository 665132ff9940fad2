// For `node --import @redline/telemetry/register`: starts what the OTEL_* variables ask for.
import { start } from './start.ts';

start();
