/** Telemetry that has been started. */
export interface Telemetry {
  /** Sends what there is now. @throws if the receiver does not take it within OTEL_BSP_EXPORT_TIMEOUT */
  forceFlush(): Promise<void>;
  /** Ends it, after sending what there is. */
  shutdown(): Promise<void>;
  /** Returns the metrics in Prometheus' text format. */
  prometheusText(): Promise<string>;
}
