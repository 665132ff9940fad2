// The ladder of `npm start`, as a scenario.
export { default } from '../../examples/cached-api/redline.config.ts';
