// Command dist builds a release: the command for each platform, the functions for Lambda,
// and what belongs to them. The same commit gives the same bytes, whoever builds it:
// -again builds it once more, in a fresh clone with an empty build cache, and compares.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are what a release is made of.
type options struct {
	out        string
	platforms  []platform
	repository string // owner/name, "" leaves out what names it
	functions  bool
	again      bool
	dirty      bool
}

func main() {
	o, err := parse(os.Args[1:])
	if err == nil {
		err = run(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	f := flag.NewFlagSet("dist", flag.ContinueOnError)
	o := options{}
	f.StringVar(&o.out, "out", "build/release", "the folder to write, which is emptied first")
	f.StringVar(&o.repository, "repository", "", "owner/name on GitHub, for the plugin manifest")
	f.BoolVar(&o.functions, "functions", true, "the functions too")
	f.BoolVar(&o.again, "again", false, "build it once more elsewhere, and compare")
	f.BoolVar(&o.dirty, "dirty", false, "build although there are changes that are not committed")
	names := f.String("platforms", strings.Join(allPlatforms(), ","), "what to build the command for")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	for name := range strings.SplitSeq(*names, ",") {
		p, err := platformOf(name)
		if err != nil {
			return o, err
		}
		o.platforms = append(o.platforms, p)
	}
	return o, nil
}

func run(o options) error {
	if changes, err := git("status", "--porcelain"); err != nil {
		return err
	} else if changes != "" && !o.dirty {
		return fmt.Errorf("there are changes that are not committed (-dirty builds all the same):\n%s", changes)
	}
	if err := release(o); err != nil {
		return err
	}
	if !o.again {
		return nil
	}
	return compareAgain(o)
}

// release builds and writes everything.
func release(o options) error {
	text, err := git("log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("the commit's time: %w", err)
	}
	at := time.Unix(seconds, 0).UTC()
	if err := os.RemoveAll(o.out); err != nil {
		return err
	}
	work := filepath.Join(o.out, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(work)
	programs, err := buildAll(o, work)
	if err != nil {
		return err
	}
	version := programs[0].version()
	var archives []archive
	for _, p := range programs {
		fmt.Printf("%s %s\n", version, p.name)
		if err := p.describe(o.out, version, at); err != nil {
			return err
		}
		a, err := p.pack(o.out, version, at)
		if err != nil {
			return err
		}
		archives = append(archives, a)
	}
	if err := writeChangelog(o.out, version, at); err != nil {
		return err
	}
	if o.repository != "" {
		if err := writeManifest(o.out, o.repository, version, archives); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	return writeSums(o.out)
}

// compareAgain builds the same commit from a clone, with nothing that is there.
func compareAgain(o options) error {
	dir, err := os.MkdirTemp("", "rollcall-again")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	clone, cache, out := filepath.Join(dir, "elsewhere", "clone"), filepath.Join(dir, "cache"), filepath.Join(dir, "out")
	if _, err := git("clone", "--quiet", ".", clone); err != nil {
		return err
	}
	args := []string{"run", "./local/dist", "-out", out, "-repository", o.repository, "-functions=" + strconv.FormatBool(o.functions), "-platforms", platformNames(o.platforms)}
	c := exec.Command("go", args...)
	c.Dir, c.Env = clone, append(os.Environ(), "GOCACHE="+cache)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("build it again: %w", err)
	}
	return sameSums(filepath.Join(o.out, sumsFile), filepath.Join(out, sumsFile))
}

// sameSums compares the sums of two releases.
func sameSums(first, second string) error {
	a, err := os.ReadFile(first)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(second)
	if err != nil {
		return err
	}
	if string(a) == string(b) {
		fmt.Printf("built again, and the same: %d files\n", strings.Count(string(a), "\n"))
		return nil
	}
	have := strings.Split(string(b), "\n")
	var other []string
	for line := range strings.SplitSeq(string(a), "\n") {
		if !slices.Contains(have, line) {
			other = append(other, line)
		}
	}
	return errors.New("built again, and not the same:\n" + strings.Join(other, "\n"))
}

// git runs git here.
func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			return "", fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(failed.Stderr)))
		}
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
