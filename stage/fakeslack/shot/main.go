// Command shot writes a picture of a web page with a headless Chromium.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Exit codes.
const (
	exitOK        = 0
	exitFailed    = 1
	exitUsage     = 2
	exitNoBrowser = 3
)

const usage = `usage: shot [--width 1280] [--height 900] [--wait 2s] [--browser path] URL OUT.png

Writes a picture of the page at URL to OUT.png. Add static=1 to the query of a
page of the stand-in, so that it does not wait for more.

exit status: 0 written, 1 failed, 2 wrong arguments, 3 no Chromium found
`

var (
	errUsage     = errors.New("wrong arguments")
	errNoBrowser = errors.New("no Chromium found; give its path with --browser")
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "shot:", err)
	}
	os.Exit(exitCode(err))
}

func exitCode(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errUsage):
		return exitUsage
	case errors.Is(err, errNoBrowser):
		return exitNoBrowser
	}
	return exitFailed
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("shot", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	width := flags.Int("width", 1280, "")
	height := flags.Int("height", 900, "")
	wait := flags.Duration("wait", 2*time.Second, "")
	browser := flags.String("browser", "", "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		return nil
	case err != nil:
		return fmt.Errorf("%w: %w", errUsage, err)
	case flags.NArg() != 2 || *width < 1 || *height < 1:
		return fmt.Errorf("%w\n%s", errUsage, usage)
	}
	path, err := find(*browser, exec.LookPath)
	if err != nil {
		return err
	}
	return shoot(ctx, path, flags.Arg(0), flags.Arg(1), *width, *height, *wait)
}

// find returns the browser: the one that was named, or the first on the path.
func find(named string, look func(string) (string, error)) (string, error) {
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}
	if named != "" {
		names = []string{named}
	}
	for _, n := range names {
		if path, err := look(n); err == nil {
			return path, nil
		}
	}
	return "", errNoBrowser
}

// shoot takes the picture, with a profile of its own that is removed afterwards.
func shoot(ctx context.Context, browser, url, out string, width, height int, wait time.Duration) error {
	dir, err := os.MkdirTemp("", "shot-")
	if err != nil {
		return fmt.Errorf("make profile: %w", err)
	}
	defer os.RemoveAll(dir)
	picture := filepath.Join(dir, "page.png")
	ctx, cancel := context.WithTimeout(ctx, wait+60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, arguments(dir, picture, url, width, height, wait)...)
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("run %s: %w: %s", browser, err, last(string(said)))
	}
	data, err := os.ReadFile(picture)
	if err != nil {
		return fmt.Errorf("no picture was written: %w: %s", err, last(string(said)))
	}
	if err := os.WriteFile(out, data, 0o644); err != nil {
		return fmt.Errorf("write picture: %w", err)
	}
	return nil
}

func arguments(dir, picture, url string, width, height int, wait time.Duration) []string {
	return []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--user-data-dir=" + dir, fmt.Sprintf("--window-size=%d,%d", width, height),
		fmt.Sprintf("--virtual-time-budget=%d", wait.Milliseconds()), "--screenshot=" + picture, url,
	}
}

// last returns the last line that the browser wrote.
func last(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return lines[len(lines)-1]
}
