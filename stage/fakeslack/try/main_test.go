package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"
)

// visitor opens the address it is given, then interrupts the command.
type visitor struct {
	page string
	stop context.CancelFunc
	err  error
}

func (v *visitor) Write(p []byte) (int, error) {
	defer v.stop()
	resp, err := http.Get(strings.TrimSpace(string(p)))
	if err != nil {
		v.err = err
		return len(p), nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	v.page, v.err = string(body), err
	return len(p), nil
}

func TestArguments(t *testing.T) {
	var b strings.Builder
	if err := run(context.Background(), []string{"--help"}, &b); err != nil || b.String() != usage {
		t.Errorf("got %q, error %v, want the usage", b.String(), err)
	}
	if err := run(context.Background(), nil, io.Discard); err == nil || !strings.Contains(err.Error(), "no files") {
		t.Errorf("error %v, want that there are no files", err)
	}
	if err := run(context.Background(), []string{"now"}, io.Discard); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that the file does not exist", err)
	}
}

func TestGoldenMessagesAreShown(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	v := &visitor{stop: stop}
	if err := run(ctx, []string{"../../testdata/messages/karpenter-nodepool-limit.golden.json"}, v); err != nil || v.err != nil {
		t.Fatalf("run: %v, open the page: %v", err, v.err)
	}
	for _, want := range []string{"NodePool gpu has reached its limit", "kubectl edit nodepool gpu", "1 reply"} {
		if !strings.Contains(v.page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
