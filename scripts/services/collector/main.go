// Command collector is an OpenTelemetry collector with what tests need: it receives OTLP, and appends each request that it has
// taken to the file named by OUTPUT, as a line of JSON.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

func main() {
	settings := otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "collector", Description: "keeps OTLP", Version: "1"},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{
			ResolverSettings: confmap.ResolverSettings{
				ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()},
				DefaultScheme:     "file",
			},
		},
	}
	file, err := os.OpenFile(os.Getenv("OUTPUT"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	output = file
	if err := otelcol.NewCommand(settings).Execute(); err != nil {
		log.Fatal(err)
	}
}

func factories() (otelcol.Factories, error) {
	receivers, err := otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory())
	if err != nil {
		return otelcol.Factories{}, err
	}
	exporters, err := otelcol.MakeFactoryMap[exporter.Factory](fileExporter())
	if err != nil {
		return otelcol.Factories{}, err
	}
	return otelcol.Factories{
		Receivers: receivers,
		Exporters: exporters,
		Telemetry: otelconftelemetry.NewFactory(),
	}, nil
}

var (
	output *os.File
	lock   sync.Mutex
)

// Lines of several goroutines must not mix.
func appendLine(kind string, json []byte, err error) error {
	if err != nil {
		return err
	}
	lock.Lock()
	defer lock.Unlock()
	_, err = fmt.Fprintf(output, "{%q:%s}\n", kind, json)
	return err
}

func fileExporter() exporter.Factory {
	name := component.MustNewType("lines")
	settings := func() component.Config { return &struct{}{} }
	traces := func(ctx context.Context, set exporter.Settings, config component.Config) (exporter.Traces, error) {
		return exporterhelper.NewTraces(ctx, set, config, func(_ context.Context, data ptrace.Traces) error {
			json, err := (&ptrace.JSONMarshaler{}).MarshalTraces(data)
			return appendLine("traces", json, err)
		})
	}
	metrics := func(ctx context.Context, set exporter.Settings, config component.Config) (exporter.Metrics, error) {
		return exporterhelper.NewMetrics(ctx, set, config, func(_ context.Context, data pmetric.Metrics) error {
			json, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(data)
			return appendLine("metrics", json, err)
		})
	}
	logs := func(ctx context.Context, set exporter.Settings, config component.Config) (exporter.Logs, error) {
		return exporterhelper.NewLogs(ctx, set, config, func(_ context.Context, data plog.Logs) error {
			json, err := (&plog.JSONMarshaler{}).MarshalLogs(data)
			return appendLine("logs", json, err)
		})
	}
	return exporter.NewFactory(name, settings,
		exporter.WithTraces(traces, component.StabilityLevelStable),
		exporter.WithMetrics(metrics, component.StabilityLevelStable),
		exporter.WithLogs(logs, component.StabilityLevelStable))
}
