package awsconf

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"golang.org/x/term"
)

// CodeError is that a profile asks for the code of an MFA device, and there is no terminal
// to ask for it.
type CodeError struct{ Serial string }

func (e *CodeError) Error() string {
	return "the profile asks for a code of the MFA device " + e.Serial + ", and there is no terminal to ask for it: " +
		`take a session first (eval "$(aws configure export-credentials --profile NAME --format env)"), and run this without the profile`
}

var errNoCode = errors.New("no code was given")

// Ask asks for the code of an MFA device.
type Ask func(ctx context.Context, serial string) (string, error)

// AtTerminal asks a person, as the AWS CLI does; where from is no terminal it refuses with
// *CodeError. What is typed is seen: a code is good once, and a program that is interrupted
// leaves the terminal as it was.
func AtTerminal(from *os.File, to io.Writer) Ask {
	if !term.IsTerminal(int(from.Fd())) {
		return nil
	}
	return func(ctx context.Context, serial string) (string, error) { return typed(ctx, serial, from, to) }
}

func typed(ctx context.Context, serial string, from io.Reader, to io.Writer) (string, error) {
	fmt.Fprintf(to, "Enter MFA code for %s: ", serial)
	read := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(from)
		lines.Scan()
		read <- lines.Text()
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(to)
		return "", ctx.Err()
	case code := <-read:
		if code == "" {
			return "", errNoCode
		}
		return code, nil
	}
}

// WithMFA has profiles with an MFA device ask for its code; nil refuses with *CodeError. A
// session lasts an hour, as the AWS CLI's: the SDK's quarter of one would ask again in the
// middle of what goes on.
func WithMFA(ctx context.Context, ask Ask) config.LoadOptionsFunc {
	return config.WithAssumeRoleCredentialOptions(func(o *stscreds.AssumeRoleOptions) {
		if o.SerialNumber == nil {
			return
		}
		serial := *o.SerialNumber
		if o.Duration == 0 {
			o.Duration = time.Hour
		}
		o.TokenProvider = func() (string, error) {
			if ask == nil {
				return "", &CodeError{Serial: serial}
			}
			return ask(ctx, serial)
		}
	})
}
