import { eventHandler, readBody } from 'h3';

export default eventHandler(async (event) => ({ got: await readBody(event) }));
