package awsconf

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// A code is read as it is typed; that nothing was typed, and that somebody gave up, is told.
func TestTyped(t *testing.T) {
	const serial = "arn:aws:iam::111122223333:mfa/you"
	var prompt bytes.Buffer
	if code, err := typed(t.Context(), serial, strings.NewReader("123456\nmore"), &prompt); code != "123456" || err != nil || prompt.String() != "Enter MFA code for "+serial+": " {
		t.Errorf("%q, %v, asked %q", code, err, prompt.String())
	}
	if _, err := typed(t.Context(), serial, strings.NewReader(""), io.Discard); !errors.Is(err, errNoCode) {
		t.Errorf("nothing was typed: %v", err)
	}
	given, up := context.WithCancel(t.Context())
	up()
	if _, err := typed(given, serial, blocked{t.Context()}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if AtTerminal(r, io.Discard) != nil {
		t.Error("a pipe is asked")
	}
}

// blocked is read from for as long as a test lasts.
type blocked struct{ ctx context.Context }

func (b blocked) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, io.EOF
}
