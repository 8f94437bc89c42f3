package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// steps are the first ten minutes.
func (s *session) steps(ctx context.Context, root string) error {
	clone := exec.CommandContext(ctx, "git", "clone", "--no-local", "--quiet", root, filepath.Join(s.folder, "rollcall"))
	clone.Env = s.env
	if err := s.run(clone, "get it", "git clone …/rollcall", "", 0); err != nil {
		return err
	}
	if err := s.run(s.command(ctx, "make", "demo", "STORY=route"), "see it work", "make demo STORY=route", "Slack, ", 0); err != nil {
		return err
	}
	if err := s.run(s.command(ctx, "build/rollcall", "diagnose", "local/worlds/samples.yaml"), "diagnose a broken world", "build/rollcall diagnose local/worlds/samples.yaml", "no route", 1); err != nil {
		return err
	}
	if err := s.onStage(ctx); err != nil {
		return err
	}
	deploy := s.command(ctx, "make", "deploy", "CHANNEL=C0123456789")
	deploy.Env = append(deploy.Env, "AWS_REGION=us-west-2")
	return s.run(deploy, "deploy, without credentials", "AWS_REGION=us-west-2 make deploy CHANNEL=C0123456789", "credentials", 2)
}

// onStage keeps a story's stage up, presses its button, and asks the AWS of it what one
// would ask one's own.
func (s *session) onStage(ctx context.Context) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	demo := s.command(ctx, "build/rollcall", "demo", "route", "--keep")
	demo.Cancel = func() error { return demo.Process.Signal(os.Interrupt) }
	out, err := demo.StdoutPipe()
	if err != nil {
		return fmt.Errorf("read the demo: %w", err)
	}
	demo.Stderr = demo.Stdout
	typed := "build/rollcall demo route --keep"
	fmt.Println("press the button: " + typed)
	began := time.Now()
	if err := demo.Start(); err != nil {
		return fmt.Errorf("begin %s: %w", typed, err)
	}
	// It ends when it is interrupted, which is no fault here.
	defer func() {
		stop()
		var ended *exec.ExitError
		if e := demo.Wait(); e != nil && !errors.As(e, &ended) && !errors.Is(e, context.Canceled) {
			err = errors.Join(err, fmt.Errorf("end %s: %w", typed, e))
		}
	}()
	var access []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if at := regexp.MustCompile(`Your turn: open (http://\S+)`).FindStringSubmatch(line); at != nil {
			if err := press(ctx, at[1]); err != nil {
				return err
			}
		}
		if v, found := strings.CutPrefix(line, "export "); found {
			access = append(access, v)
		}
		if strings.HasPrefix(line, "Ctrl-C ends it.") {
			break
		}
	}
	if len(access) == 0 {
		return fmt.Errorf("%s ended without a stage that stays up: %w", typed, lines.Err())
	}
	s.done = append(s.done, step{what: "press the button", command: typed, took: time.Since(began), says: "The stage stays up", after: time.Since(began)})
	for _, next := range []struct {
		what, waitsFor string
		exit           int
		args           []string
	}{
		{"is a deployment whole", "test message", 0, []string{"doctor", "--test-message"}},
		{"diagnose a live cluster", "every instance", 0, []string{"diagnose", "--cluster", "eks-workshop"}},
		{"take a capture of it", "", 0, []string{"capture", "--cluster", "eks-workshop", "--out", "capture"}},
		{"diagnose the capture", "every instance", 0, []string{"diagnose", "capture"}},
	} {
		cmd := s.command(ctx, append([]string{"build/rollcall"}, next.args...)...)
		cmd.Env = append(cmd.Env, access...)
		if err := s.run(cmd, next.what, "build/rollcall "+strings.Join(next.args, " "), next.waitsFor, next.exit); err != nil {
			return err
		}
	}
	return nil
}

// press approves the fix on the page, as its own button does.
func press(ctx context.Context, page string) error {
	ask := func(method, path string, body any, into any) error {
		raw, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("write the press: %w", err)
		}
		r, err := http.NewRequestWithContext(ctx, method, page+path, bytes.NewReader(raw))
		if err != nil {
			return fmt.Errorf("ask the page: %w", err)
		}
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return fmt.Errorf("ask the page: %w", err)
		}
		defer res.Body.Close()
		if err := json.NewDecoder(res.Body).Decode(into); err != nil {
			return fmt.Errorf("read the page's answer (status %d): %w", res.StatusCode, err)
		}
		return nil
	}
	var state struct {
		Channels []struct {
			ID       string
			Messages []struct{ TS string }
		}
	}
	if err := ask(http.MethodGet, "/state.json", nil, &state); err != nil {
		return err
	}
	var answer struct {
		OK   bool
		Hint string
	}
	for _, c := range state.Channels {
		for _, m := range c.Messages {
			if err := ask(http.MethodPost, "/press", map[string]string{"channel": c.ID, "ts": m.TS, "action": "approve"}, &answer); err != nil || answer.OK {
				return err
			}
		}
	}
	return fmt.Errorf("no message's button could be pressed: %s", answer.Hint)
}
