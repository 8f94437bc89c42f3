package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/specs"
	"rollcall/infra/standard"
)

// writeStandard writes the standard template.
func writeStandard(file string) error {
	defer quit()
	dir, err := os.MkdirTemp("", "rollcall-standard")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	text, err := standardTemplate(dir, "cdk.json")
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// standardTemplate synthesises the app with all settings that the standard template is made
// of. The packages are empty: their code is a parameter.
func standardTemplate(dir, cdkFile string) ([]byte, error) {
	packages := filepath.Join(dir, "packages")
	for _, s := range specs.All() {
		folder := filepath.Join(packages, s.Name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(folder, "bootstrap"), []byte("#!stub"), 0o755); err != nil {
			return nil, err
		}
	}
	flags, err := flagsOf(cdkFile)
	if err != nil {
		return nil, err
	}
	var all [][]byte
	for i, a := range standard.Assignments() {
		context := maps.Clone(flags)
		maps.Copy(context, standard.Settings(a))
		app := awscdk.NewApp(&awscdk.AppProps{
			AnalyticsReporting: jsii.Bool(false), Context: &context, Outdir: jsii.String(filepath.Join(dir, fmt.Sprint("out", i))),
		})
		if err := NewStack(app, specs.All(), packages); err != nil {
			return nil, fmt.Errorf("settings %d: %w", i, err)
		}
		files, err := assemble(app)
		if err != nil {
			return nil, fmt.Errorf("settings %d: %w", i, err)
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return standard.Template(all)
}

// flagsOf is the context in cdk.json: the library's feature flags.
func flagsOf(file string) (map[string]any, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var cdk struct{ Context map[string]any }
	if err := json.Unmarshal(text, &cdk); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return cdk.Context, nil
}
