// The ladder that `npm start` climbs, as a scenario.
export { default } from '../../examples/cached-api/redline.config.ts';
