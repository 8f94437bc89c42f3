// Command relayparameters prepares a relay (infra/RollcallRelay.template.json) for one
// cluster of the account and region of the caller: its parameters, of what EKS tells of the
// cluster, and its program, packed for the bucket. `make deploy-relay` runs it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/shared/awsconf"
)

func main() {
	cluster := flag.String("cluster", "", "the cluster's name")
	bucket := flag.String("bucket", "", "a bucket of the caller's region, for the program")
	prefix := flag.String("prefix", "rollcall", "what the names of the hub's functions begin with: its stack's name in lower case")
	program := flag.String("program", "build/arm64/relay/bootstrap", "the program")
	out := flag.String("out", "build/relay", "the folder to write to")
	look := flag.Bool("look", false, "only look whether the cluster can have a relay, and write nothing: before anything is built")
	flag.Parse()
	if *look {
		*program = ""
	}
	if err := run(context.Background(), *cluster, *bucket, *prefix, *program, *out); err != nil {
		fmt.Fprintln(os.Stderr, "relayparameters:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, cluster, bucket, prefix, program, out string) error {
	cfg, err := config.LoadDefaultConfig(ctx, awsconf.WithMFA(ctx, awsconf.AtTerminal(os.Stdin, os.Stderr)))
	if err != nil {
		return fmt.Errorf("load the AWS configuration: %w", err)
	}
	told, err := eks.NewFromConfig(cfg).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(cluster)})
	if err != nil {
		return fmt.Errorf("describe the cluster %s: %w", cluster, err)
	}
	if program == "" {
		_, err := parameters(told.Cluster, prefix, bucket, "")
		return err
	}
	binary, err := os.ReadFile(program)
	if err != nil {
		return fmt.Errorf("read the relay's program (make build, or the unpacked functions of a release): %w", err)
	}
	archive, key, err := packed(binary)
	if err != nil {
		return err
	}
	list, err := parameters(told.Cluster, prefix, bucket, key)
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
	fmt.Println(stackName(list))
	return nil
}
