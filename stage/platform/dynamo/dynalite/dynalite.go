// Package dynalite runs a DynamoDB that others keep, to hold package dynamo and the
// store against: dynalite, an emulator, in a Node process of its own.
package dynalite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"rollcall/stage/platform/dynamo"
)

// Options are how it is started.
type Options struct {
	// Dir is the folder with package.json and server.js. If it is empty, it is
	// looked for from the current folder upwards.
	Dir string
	// Port is a free one if it is 0.
	Port int
	// Log takes what the process says on its standard error; nil for nothing.
	Log io.Writer
}

// Server is a running DynamoDB. Its tables are in memory.
type Server struct {
	port  int
	child *exec.Cmd
	stdin io.Closer
	once  sync.Once
	ended chan struct{}
}

// startTime is how long Node may take to load dynalite: under a second on an
// idle machine, more where everything runs at once.
const startTime = 30 * time.Second

// Start starts it and returns when it takes calls. The context bounds the
// start, not the life: that ends with Close, or with this process, however it
// ends, because the child watches its standard input.
func Start(ctx context.Context, o Options) (*Server, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("start DynamoDB: Node.js is needed (20 or newer, https://nodejs.org), and there is no node on the PATH: %w", err)
	}
	dir := o.Dir
	if dir == "" {
		if dir, err = find(); err != nil {
			return nil, fmt.Errorf("start DynamoDB: %w", err)
		}
	}
	if err := install(ctx, dir); err != nil {
		return nil, fmt.Errorf("start DynamoDB: %w", err)
	}
	s := &Server{child: exec.Command(node, "server.js", strconv.Itoa(o.Port)), ended: make(chan struct{})}
	s.child.Dir = dir
	s.child.Stderr = o.Log
	stdin, err := s.child.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start DynamoDB: %w", err)
	}
	s.stdin = stdin
	stdout, err := s.child.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start DynamoDB: %w", err)
	}
	if err := s.child.Start(); err != nil {
		return nil, fmt.Errorf("start DynamoDB: %w", err)
	}
	type line struct {
		text string
		err  error
	}
	first := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(stdout).ReadString('\n')
		first <- line{text, err}
		// It says no more; waiting reaps the child.
		_ = s.child.Wait()
		close(s.ended)
	}()
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	select {
	case l := <-first:
		if l.err == nil {
			s.port, l.err = strconv.Atoi(strings.TrimSpace(l.text))
		}
		if l.err != nil {
			_ = s.Close()
			return nil, fmt.Errorf("start DynamoDB: %s did not say its port: %w", filepath.Join(dir, "server.js"), l.err)
		}
		return s, nil
	case <-ctx.Done():
		_ = s.Close()
		return nil, fmt.Errorf("start DynamoDB: no port in time: %w", ctx.Err())
	}
}

// Endpoint is its address, for an SDK client's BaseEndpoint.
func (s *Server) Endpoint() string { return fmt.Sprintf("http://127.0.0.1:%d", s.port) }

// stopTime is how long the process may take to end by itself.
const stopTime = 3 * time.Second

// Close ends the process and waits for it. What it held is gone.
func (s *Server) Close() error {
	var err error
	s.once.Do(func() {
		_ = s.stdin.Close() // may be closed already, if the process ended first
		select {
		case <-s.ended:
			return
		case <-time.After(stopTime):
		}
		if err = s.child.Process.Kill(); err == nil || errors.Is(err, os.ErrProcessDone) {
			err = nil
			<-s.ended
		}
	})
	if err != nil {
		return fmt.Errorf("stop DynamoDB: %w", err)
	}
	return nil
}

// find looks for this package's folder from the current one upwards.
func find() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := at; ; dir = filepath.Dir(dir) {
		candidate := filepath.Join(dir, "stage", "platform", "dynamo", "dynalite")
		if _, err := os.Stat(filepath.Join(candidate, "server.js")); err == nil {
			return candidate, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no stage/platform/dynamo/dynalite/server.js in %s or above it", at)
		}
	}
}

// install fetches dynalite as package-lock.json says, once. Several processes
// may come here at the same time (each package's tests are one), so a folder
// made by the first keeps the others waiting.
func install(ctx context.Context, dir string) error {
	if installed(dir) {
		return nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("npm is needed to fetch dynalite (it comes with Node.js), and it is not on the PATH: %w", err)
	}
	lock := filepath.Join(dir, ".installing")
	for {
		err := os.Mkdir(lock, 0o755)
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("lock %s: %w", dir, err)
		}
		if installed(dir) {
			return nil
		}
		if stale(lock) {
			// Whoever made it was killed. If two remove it, one makes it anew.
			_ = os.Remove(lock)
			continue
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for another npm ci in %s: %w", dir, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
	defer os.Remove(lock)
	if installed(dir) {
		return nil
	}
	// The packages need nothing built in memory mode, so none of their scripts runs.
	c := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci in %s: %w\n%s", dir, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// installed reports whether npm has finished: it writes this file last.
func installed(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "node_modules", ".package-lock.json"))
	return err == nil
}

// stale reports whether a lock is older than any npm ci of 25 small packages takes.
func stale(lock string) bool {
	info, err := os.Stat(lock)
	return err == nil && time.Since(info.ModTime()) > 5*time.Minute
}

// Client is a client for it; region and credentials are of no matter.
func (s *Server) Client() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "us-west-2",
		BaseEndpoint: aws.String(s.Endpoint()),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
}

// CreateTable makes a table as the stack does (see package state).
func (s *Server) CreateTable(ctx context.Context, name string) error {
	client := s.Client()
	if _, err := client.CreateTable(ctx, dynamo.TableOfTheStack(name)); err != nil {
		return fmt.Errorf("create table %s: %w", name, err)
	}
	// A new table is not there at once, here as in AWS.
	active := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 2*time.Millisecond, 20*time.Millisecond
	})
	if err := active.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, 10*time.Second); err != nil {
		return fmt.Errorf("create table %s: %w", name, err)
	}
	return nil
}
