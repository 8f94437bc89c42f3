// Command relayparameters prepares a relay (infra/RollcallRelay.template.json) for one
// cluster of the account and region of the caller: its parameters, of what EKS returns of the
// cluster, and its program, packed for the bucket. `make deploy-relay` runs it.
package main

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/infra/relaystack"
	"rollcall/infra/settings"
	"rollcall/shared/awsconf"
)

func main() {
	cluster := flag.String("cluster", "", "the cluster's name")
	bucket := flag.String("bucket", "", "a bucket of the caller's region, for the program")
	prefix := flag.String("prefix", "rollcall", "what the names of the hub's functions begin with: its stack's name in lower case")
	program := flag.String("program", "build/arm64/relay/bootstrap", "the program, or the ZIP file that a release has of it")
	out := flag.String("out", "build/relay", "the folder to write to")
	line := settings.Line{NoChannel: true}
	file := flag.String("settings", "", "the settings file")
	flag.Func("c", "a setting, key=value", func(text string) error {
		line.Context = append(line.Context, text)
		return nil
	})
	look := flag.Bool("look", false, "only look whether the cluster can have a relay, and write nothing: before anything is built")
	flag.Parse()
	if *look {
		*program = ""
	}
	if err := run(context.Background(), line, *file, *cluster, *bucket, *prefix, *program, *out); err != nil {
		fmt.Fprintln(os.Stderr, "relayparameters:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, line settings.Line, file, cluster, bucket, prefix, program, out string) error {
	var err error
	if line.File, err = settings.ReadFile(file); err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	chosen, _, err := line.Parse()
	if err != nil {
		return err
	}
	cfg, err := config.LoadDefaultConfig(ctx, awsconf.WithMFA(ctx, awsconf.AtTerminal(os.Stdin, os.Stderr)))
	if err != nil {
		return fmt.Errorf("load the AWS configuration: %w", err)
	}
	told, err := eks.NewFromConfig(cfg).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(cluster)})
	if err != nil {
		return fmt.Errorf("describe the cluster %s: %w", cluster, err)
	}
	if program == "" {
		_, err := relaystack.Parameters(told.Cluster, chosen, prefix, bucket, "")
		return err
	}
	binary, err := os.ReadFile(program)
	if err != nil {
		return fmt.Errorf("read the relay's program (make build, or the unpacked functions of a release): %w", err)
	}
	archive, key := binary, keyOf(binary)
	if filepath.Ext(program) != ".zip" {
		if archive, key, err = packed(binary); err != nil {
			return err
		}
	}
	list, err := relaystack.Parameters(told.Cluster, chosen, prefix, bucket, key)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return fmt.Errorf("write the parameters: %w", err)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for name, content := range map[string][]byte{"relay.zip": archive, "parameters.json": text, "key": []byte(key)} {
		if err := os.WriteFile(filepath.Join(out, name), content, 0o644); err != nil {
			return err
		}
	}
	fmt.Println(relaystack.Name(list))
	return nil
}

// packed is a program as Lambda takes it, the same for the same program, and its key, which
// is another for another: CloudFormation takes new code by a new key alone.
func packed(program []byte) (archive []byte, key string, err error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	h := &zip.FileHeader{Name: "bootstrap", Method: zip.Deflate, Modified: time.Unix(315532800, 0).UTC()} // 1980, where ZIP begins
	h.SetMode(0o755)
	w, err := z.CreateHeader(h)
	if err == nil {
		_, err = w.Write(program)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		return nil, "", fmt.Errorf("pack the relay's program: %w", err)
	}
	return out.Bytes(), keyOf(program), nil
}

func keyOf(content []byte) string {
	sum := sha256.Sum256(content)
	return "rollcall/relay-" + hex.EncodeToString(sum[:8]) + ".zip"
}
