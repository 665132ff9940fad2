import { eventHandler } from 'h3';

export default eventHandler(() => '<h1>Nitro</h1>');
