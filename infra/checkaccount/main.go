// Command checkaccount says, before anything is built, whether there are AWS
// credentials, whose they are, which of the clusters that the stack would
// make access entries in refuse them, and whether Lambda has the concurrency that it reserves:
//
//	go run ./infra/checkaccount -for deploy -c slackChannel=C0123456789 [-c key=value]...
//
// What an operator should know goes to standard error. Standard output is for
// the Makefile: the environment to bootstrap ("aws://123456789012/us-west-2"),
// or the settings that the stack needs on top ("-c configMapClusters=old").
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/infra/settings"
	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

// Times within which AWS must have answered. Credentials are said to be wrong
// within two seconds; clusters are asked only with good ones.
const (
	identityTime = 1700 * time.Millisecond
	clustersTime = 10 * time.Second
)

func main() {
	var line settings.Line
	target := flag.String("for", "deploy", "the target: bootstrap, deploy, deploy-relay, deploy-spoke, diff, destroy or redrive")
	flag.BoolVar(&line.NoChannel, "no-channel", false, "the target needs no channel")
	flag.Func("c", "a setting, key=value", func(text string) error {
		line.Context = append(line.Context, text)
		return nil
	})
	flag.Parse()
	if err := run(context.Background(), *target, line, os.Getenv, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "make %s cannot start: %v\n", *target, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, target string, line settings.Line, getenv func(string) string, out, say io.Writer) error {
	given, wrong := line.Read()
	chosen, err := settings.Parse(given)
	if err := errors.Join(append(wrong, err)...); err != nil {
		return err
	}
	quick, cancel := context.WithTimeout(ctx, identityTime)
	defer cancel()
	cfg, err := load(quick, target)
	if err != nil {
		return err
	}
	who, err := whose(quick, target, cfg, func() identifier { return sts.NewFromConfig(cfg) }, getenv)
	switch {
	case err != nil:
		return err
	case who.unasked != "" && target == "bootstrap":
		return errors.New(who.unasked + "; the account to bootstrap is not known")
	case who.unasked != "":
		fmt.Fprintln(say, "Not checked: "+who.unasked+".")
	default:
		fmt.Fprintf(say, "%s: account %s, %s, as %s\n", target, who.account, cfg.Region, who.arn)
	}
	switch target {
	case "bootstrap":
		fmt.Fprintf(out, "aws://%s/%s\n", who.account, cfg.Region)
	case "deploy", "diff":
		if err := apart(cfg.Region, chosen); err != nil {
			return err
		}
		for _, line := range lacking(cfg.Region, chosen) {
			fmt.Fprintln(say, line)
		}
		patient, cancel := context.WithTimeout(ctx, clustersTime)
		defer cancel()
		unasked, err := missingPolicies(patient, eks.NewFromConfig(cfg), cfg.Region, chosen)
		fmt.Fprint(say, unasked)
		if err != nil {
			return err
		}
		reader := ""
		if who.account != "" {
			reader = config.SpokeRoleARN(chosen.Prefix(), spec.SpokeReader, spoke.ID{Account: who.account, Region: cfg.Region})
		}
		found := sorted(modes(patient, eks.NewFromConfig(cfg), entries(chosen), reader))
		fmt.Fprint(say, found.words(cfg.Region))
		unasked, tooFew := concurrency(patient, lambda.NewFromConfig(cfg), cfg.Region, chosen)
		fmt.Fprint(say, unasked)
		if err := errors.Join(found.missingError(cfg.Region), found.byHandError(cfg.Region, reader), tooFew); err != nil {
			return err
		}
		fmt.Fprint(out, found.context(chosen.ConfigMapClusters))
	}
	return nil
}
