import { eventHandler } from 'h3';

export default eventHandler(() => {
  throw new Error('failed');
});
