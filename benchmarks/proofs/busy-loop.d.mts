export class BusyLoop {
  constructor(micros: number);
  run(): void;
}
