// Package subject is what the command looks at where that is a folder or a file: a capture, or a
// world of the stage.
package subject

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/command/capture"
	"rollcall/command/exit"
	"rollcall/command/result"
	"rollcall/shared/gather"
)

// Subject is a world or a capture that is looked at.
type Subject struct {
	Path string // a world's file or a capture's folder
	// Name is what a page calls it; empty for the path's last part.
	Name string
	// Root is what Path is below, and all that is read: nil for no such bound.
	Root *os.Root
	// At is the time at which it is looked at; zero for its own.
	At time.Time
	// Verbose has the functions' logs among the notes.
	Verbose bool
}

// IsWorld reports whether the subject is a file: a capture is a folder.
func (s Subject) IsWorld() (bool, error) {
	stat := os.Stat
	if s.Root != nil {
		stat = s.Root.Stat
	}
	info, err := stat(s.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, exit.Misuse("%s: no such folder or file: check the spelling; a relative path starts at the current folder", s.Path)
	case err != nil:
		return false, exit.Misuse("not readable: %w", err)
	}
	return !info.IsDir(), nil
}

// Capture opens the subject's folder; what was not understood in it goes to notes.
func (s Subject) Capture(notes io.Writer) (*capture.Capture, error) {
	open := func() (*capture.Capture, error) { return capture.Open(s.Path, time.Now()) }
	if s.Root != nil {
		open = func() (*capture.Capture, error) {
			folder, err := s.Root.OpenRoot(s.Path)
			if err != nil {
				return nil, exit.Misuse("%s: not readable as a folder", s.Path)
			}
			defer folder.Close()
			return capture.OpenIn(folder, s.Path, time.Now())
		}
	}
	c, err := open()
	if err != nil {
		return nil, err
	}
	for _, w := range c.Warnings {
		fmt.Fprintln(notes, "note:", w)
	}
	if !s.At.IsZero() {
		c.Time = s.At
	}
	return c, nil
}

// Account is a world or a capture as an account to be read.
type Account struct {
	ID, Region string
	// Clusters are those that EKS has.
	Clusters []string
	Now      func() time.Time
	// AWS makes clients of an administrator: what a capture's taker could not read the
	// capture refuses.
	AWS aws.Config
	// Endpoints are the ways to the clusters' Kubernetes APIs.
	Endpoints func(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool)
	// Close ends what serves the account.
	Close func()
}

// Reader reads the account.
func (a Account) Reader() *gather.Reader { return gather.New(a.AWS).WithEndpoints(a.Endpoints) }

// OfCapture is a capture as an account, at the time when it was taken.
func OfCapture(c *capture.Capture) Account {
	return Account{
		ID: c.Account, Region: c.Region, Clusters: c.Clusters, Now: func() time.Time { return c.Time },
		AWS: c.AWS(), Endpoints: c.Endpoints, Close: func() {},
	}
}

// Open is the subject as an account. A world is opened by worlds.
func (s Subject) Open(ctx context.Context, worlds Worlds, notes io.Writer) (Account, error) {
	world, err := s.IsWorld()
	switch {
	case err != nil:
		return Account{}, err
	case world && worlds == nil:
		return Account{}, ErrNeedsStage
	case world:
		return worlds.Open(ctx, s)
	}
	c, err := s.Capture(notes)
	if err != nil {
		return Account{}, err
	}
	return OfCapture(c), nil
}

// Worlds are the simulated accounts that the files of worlds describe. Only the program
// rollcall-stage has them.
type Worlds interface {
	Examine(ctx context.Context, s Subject, notes io.Writer) (result.Result, error)
	Open(ctx context.Context, s Subject) (Account, error)
}

// ErrNeedsStage is that a world is to be played in a program that holds no stage.
var ErrNeedsStage = errors.New("worlds are played by the program rollcall-stage")
