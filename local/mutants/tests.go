package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// test is one test function, and what is known of it.
type test struct {
	Binary binary
	Name   string
	Takes  time.Duration // alone, of the processor
	// Reaches are the mutants that make a difference in what it runs: a test that
	// never compares equals cannot tell < from <=.
	Reaches map[int]bool
}

// limits of a try. The processor's time is what an endless loop is known by, as
// other work on the machine does not spend it; the clock's is for what waits for
// ever.
const (
	processorTimes = 4
	processorLeast = time.Second
	clockTimes     = 30
	clockLeast     = 30 * time.Second
	// memory is what a process may reserve, as a mutant may append for ever; Go
	// itself reserves about one gigabyte.
	memoryKiB = 6 << 20
)

// ending is how a test process ended.
type ending int

const (
	passed ending = iota
	failed
	outOfTime
)

// run runs tests of one binary in one process until the first fails.
func run(ctx context.Context, b binary, names []string, allowed time.Duration, environment ...string) (ending, time.Duration, string, error) {
	processor := max(processorLeast, processorTimes*allowed)
	clock := max(clockLeast, clockTimes*allowed)
	ctx, cancel := context.WithTimeout(ctx, clock)
	defer cancel()
	script := fmt.Sprintf(`ulimit -v %d; ulimit -t %d; exec "$0" "$@"`, memoryKiB, int(processor.Seconds())+1)
	cmd := exec.CommandContext(ctx, "sh", "-c", script, b.Path,
		"-test.run", "^("+strings.Join(names, "|")+")$", "-test.failfast", "-test.timeout", "0", "-test.count", "1")
	cmd.Dir = b.Dir
	cmd.Env = append(os.Environ(), environment...)
	// What a test started and left behind holds the pipes open.
	cmd.WaitDelay = time.Second
	said, err := cmd.CombinedOutput()
	var took time.Duration
	if cmd.ProcessState != nil {
		took = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return passed, took, string(said), nil
	case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failed, took, "", ctx.Err()
	case ctx.Err() != nil, took >= processor:
		return outOfTime, took, "", nil
	case errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay):
		return failed, took, string(said), nil
	}
	return failed, took, "", err
}

// record runs each test alone, and learns how long it takes and which mutants it
// reaches.
func record(ctx context.Context, binaries []binary, scratch string, o options) ([]*test, error) {
	var tests []*test
	for _, b := range binaries {
		list := exec.CommandContext(ctx, b.Path, "-test.list", ".")
		list.Dir = b.Dir
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("list the tests of %s: %w", b.Package, err)
		}
		for name := range strings.FieldsSeq(string(out)) {
			if !strings.HasPrefix(name, "Benchmark") && (o.Tests == nil || o.Tests.MatchString(name)) {
				tests = append(tests, &test{Binary: b, Name: name})
			}
		}
	}
	err := each(o.Workers, len(tests), func(i int) error {
		t := tests[i]
		path := filepath.Join(scratch, "reached"+strconv.Itoa(i))
		how, took, said, err := run(ctx, t.Binary, []string{t.Name}, time.Minute, "MUTANTS_REACHED="+path)
		if err != nil {
			return err
		}
		if how != passed {
			return fmt.Errorf("%s of %s fails without a mutant:\n%s", t.Name, t.Binary.Package, said)
		}
		t.Takes, t.Reaches = took, map[int]bool{}
		reached, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for line := range strings.FieldsSeq(string(reached)) {
			id, err := strconv.Atoi(line)
			if err != nil {
				return err
			}
			t.Reaches[id] = true
		}
		return nil
	})
	slices.SortStableFunc(tests, func(a, b *test) int { return cmp.Compare(a.Takes, b.Takes) })
	return tests, err
}

// each does something for each of n, with some workers; the first error ends it.
func each(workers, n int, do func(i int) error) error {
	var (
		next  atomic.Int64
		group sync.WaitGroup
		once  sync.Once
		first error
	)
	for range workers {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(i); err != nil {
					once.Do(func() { first = err })
					next.Store(int64(n))
					return
				}
			}
		})
	}
	group.Wait()
	return first
}
