// Package referee asks an AWS that others made or run the same questions as the
// stage, and compares: moto, AWS's own emulator, or a real account.
//
//	go test -tags referee -count=1 -v ./tools/referee -args -referee.endpoint ENDPOINT
//
// ENDPOINT is moto, which starts moto_server (.ci/run moto); the URL of an emulator on this
// machine, with -referee.ca cert.pem; or aws, the account of your AWS profile, read-only.
// -referee.write asks what changes things too, on this machine only.
//
// A question is read-only or it writes. What is not on this machine is taken
// for a real account: nothing that writes is asked of it, and the clients
// refuse to send anything but reads.
package referee

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
)

// Endpoint is who is asked.
type Endpoint struct {
	// Name is "moto", "aws" or the address's host.
	Name string
	// URL is empty for moto, which is started, and for AWS, where each service
	// has its own.
	URL string
	// Local is set where it is on this machine, and no real account.
	Local bool
}

// ParseEndpoint reads what a person gives: "moto", "aws", or a URL.
func ParseEndpoint(text string) (Endpoint, error) {
	switch text {
	case "":
		return Endpoint{}, errors.New(`no endpoint: give "moto", "aws", or the URL of an emulator`)
	case "moto":
		return Endpoint{Name: text, Local: true}, nil
	case "aws":
		return Endpoint{Name: text}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return Endpoint{}, fmt.Errorf(`%q is neither "moto" nor "aws" nor the URL of an emulator`, text)
	}
	return Endpoint{Name: u.Hostname(), URL: text, Local: u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()}, nil
}

// MayWrite reports whether questions that write may be asked, if they were asked
// for: an error where they were and may not.
func (e Endpoint) MayWrite(wanted bool) (bool, error) {
	if wanted && !e.Local {
		return false, fmt.Errorf("%s is not on this machine: it is taken for a real account, and only asked what reads", e.Name)
	}
	return wanted, nil
}

// WriteError is a call that was not sent, as it might change something.
type WriteError struct{ Operation string }

// Error names the operation.
func (e *WriteError) Error() string {
	return fmt.Sprintf("%s is not sent: only reads are asked here", e.Operation)
}

// readOnly lets a configuration's clients send nothing but reads.
func readOnly(cfg aws.Config) aws.Config {
	cfg = cfg.Copy()
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("RefereeReadsOnly",
			func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
				if op := awsmiddleware.GetOperationName(ctx); !reads(op) {
					return middleware.InitializeOutput{}, middleware.Metadata{}, &WriteError{Operation: op}
				}
				return next.HandleInitialize(ctx, in)
			}), middleware.After)
	})
	return cfg
}

// reads reports whether an operation changes nothing. Receiving a message hides
// it from others, and is no read.
func reads(operation string) bool {
	return slices.ContainsFunc([]string{"Describe", "Get", "List", "Query", "Lookup", "Search"}, func(verb string) bool {
		rest, ok := strings.CutPrefix(operation, verb)
		return ok && (rest == "" || rest[0] >= 'A' && rest[0] <= 'Z')
	})
}
