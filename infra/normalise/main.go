// Command normalise turns a synthesised template into the committed one: the
// local stage reads that, so that a first `make demo` does not wait for CDK.
//
//	go run ./infra/normalise -in cdk.out/Rollcall.template.json -out infra/Rollcall.template.json
//	go run ./infra/normalise -in cdk.out/Rollcall.template.json -check infra/Rollcall.template.json
//
// Only the names of the packages are changed, which are hashes of what the
// compiler made: the same template comes out on every machine.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
)

func main() {
	in := flag.String("in", "cdk.out/Rollcall.template.json", "the synthesised template")
	out := flag.String("out", "", "write the normalised template here")
	indent := flag.Int("indent", 2, "by how many spaces it is indented: CloudFormation takes 51,200 bytes of a template that is in no bucket")
	check := flag.String("check", "", "compare with this file instead of writing; exit status 1 when they differ")
	flag.Parse()
	if err := run(*in, *out, *check, *indent); err != nil {
		fmt.Fprintln(os.Stderr, "normalise:", err)
		os.Exit(1)
	}
}

func run(in, out, check string, indent int) error {
	synthesised, err := os.ReadFile(in)
	if err != nil {
		return fmt.Errorf("read the synthesised template (run `make synth`): %w", err)
	}
	normal, err := normalise(synthesised, indent)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	if check != "" {
		committed, err := os.ReadFile(check)
		if err != nil {
			return fmt.Errorf("read the committed template: %w", err)
		}
		if line, same := compare(committed, normal); !same {
			return fmt.Errorf("%s is not what is synthesised, from line %d on: run `make synth`", check, line)
		}
	}
	if out != "" {
		if err := os.WriteFile(out, normal, 0o644); err != nil {
			return fmt.Errorf("write the normalised template: %w", err)
		}
	}
	return nil
}

// asset is how CDK calls a package: its SHA-256.
var asset = regexp.MustCompile(`^[0-9a-f]{64}\.zip$`)

// someAsset stands for each of them.
const someAsset = "asset.zip"

// normalise sorts keys, indents, and takes the hashes out.
func normalise(template []byte, indent int) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(template))
	dec.UseNumber() // 300 stays 300
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // "->" and "&&" stay readable
	enc.SetIndent("", strings.Repeat(" ", indent))
	if err := enc.Encode(walk(tree)); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return out.Bytes(), nil
}

func walk(node any) any {
	switch n := node.(type) {
	case map[string]any:
		for key, value := range n {
			n[key] = walk(value)
		}
	case []any:
		for i, value := range n {
			n[i] = walk(value)
		}
	case string:
		if asset.MatchString(n) {
			return someAsset
		}
	}
	return node
}

// compare gives the first line in which the two differ.
func compare(a, b []byte) (line int, same bool) {
	if bytes.Equal(a, b) {
		return 0, true
	}
	left, right := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(left), len(right)) {
		if !bytes.Equal(left[i], right[i]) {
			return i + 1, false
		}
	}
	return min(len(left), len(right)) + 1, false
}
