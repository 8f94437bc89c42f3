package dynalite

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestStartAndClose(t *testing.T) {
	s, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CreateTable(t.Context(), "one"); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if c, err := net.DialTimeout("tcp", strings.TrimPrefix(s.Endpoint(), "http://"), time.Second); err == nil {
		c.Close()
		t.Error("it still takes connections after Close")
	}
}

// TestMain lets the test binary play the parent that is killed.
func TestMain(m *testing.M) {
	if os.Getenv("DYNAMO_TEST_PARENT") != "" {
		s, err := Start(context.Background(), Options{})
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Stdout.WriteString(s.Endpoint() + "\n")
		select {}
	}
	os.Exit(m.Run())
}

func TestEndsWithItsParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), "DYNAMO_TEST_PARENT=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 100)
	n, err := out.Read(buffer)
	if err != nil {
		t.Fatalf("the parent said nothing: %v", err)
	}
	address := strings.TrimPrefix(strings.TrimSpace(string(buffer[:n])), "http://")
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	for deadline := time.Now().Add(10 * time.Second); ; {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			return
		}
		c.Close()
		if time.Now().After(deadline) {
			t.Fatalf("%s still answers after its parent was killed", address)
		}
		time.Sleep(20 * time.Millisecond) // polled: no event reports another process's child
	}
}

func TestSaysWhatIsMissing(t *testing.T) {
	empty := t.TempDir()
	for _, test := range []struct{ name, path, want string }{
		{"no node", empty, "Node.js is needed"},
		{"no npm", withNode(t), "npm is needed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("PATH", test.path)
			s, err := Start(t.Context(), Options{Dir: empty})
			if err == nil {
				s.Close()
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %q, want it to say %q", err, test.want)
			}
		})
	}
}

// withNode is a folder with a node in it and no npm.
func withNode(t *testing.T) string {
	dir := t.TempDir()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(node, filepath.Join(dir, "node")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestProcessThatDoesNotSpeak(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "node_modules"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"server.js": "process.exit(3)", "node_modules/.package-lock.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Start(t.Context(), Options{Dir: dir})
	if err == nil {
		s.Close()
		t.Fatal("it started")
	}
	if !strings.Contains(err.Error(), "did not say its port") {
		t.Errorf("error is %q", err)
	}
}
