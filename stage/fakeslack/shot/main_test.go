package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	// The stand-in for a browser writes what it was asked for into the picture.
	browser := filepath.Join(dir, "browser")
	script := "#!/bin/sh\nfor a; do case $a in --screenshot=*) echo \"$@\" > \"${a#--screenshot=}\";; esac; done\n"
	if err := os.WriteFile(browser, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\nexit 9\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out.png")
	tests := map[string]struct {
		args []string
		want int
	}{
		"help":       {[]string{"--help"}, exitOK},
		"no URL":     {nil, exitUsage},
		"bad flag":   {[]string{"--wide", "u", "o"}, exitUsage},
		"no width":   {[]string{"--width", "0", "u", "o"}, exitUsage},
		"no browser": {[]string{"--browser", "/nowhere/chromium", "u", "o"}, exitNoBrowser},
		"broken":     {[]string{"--browser", broken, "u", out}, exitFailed},
		"good":       {[]string{"--browser", browser, "--width", "390", "http://x/", out}, exitOK},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := run(context.Background(), tt.args, io.Discard)
			if got := exitCode(err); got != tt.want {
				t.Errorf("got %d (%v), want %d", got, err, tt.want)
			}
		})
	}
	data, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(data), "--window-size=390,900") || !strings.HasSuffix(strings.TrimSpace(string(data)), "http://x/") {
		t.Errorf("got %q, error %v", data, err)
	}
}

func TestFind(t *testing.T) {
	look := func(name string) (string, error) {
		if name == "google-chrome" {
			return "/opt/chrome", nil
		}
		return "", errors.New("not here")
	}
	if got, err := find("", look); err != nil || got != "/opt/chrome" {
		t.Errorf("got %q, error %v, want /opt/chrome", got, err)
	}
}
