package stage

import (
	"bytes"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// children are the processes that this one has started and that still run.
func children(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		// pid (command) state ppid …: the command may hold spaces.
		end := bytes.LastIndexByte(data, ')')
		fields := strings.Fields(string(data[end+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) && fields[0] != "Z" {
			list = append(list, string(data[:end+1]))
		}
	}
	return list
}

// TestCloseLeavesNothing is not parallel: it counts processes.
//
// It has real programs: it counts processes and ports.
func TestCloseLeavesNothing(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Logf("no /proc here: only the ports are looked at (%v)", err)
	}
	r := startReal(t, "route")
	r.scale(1, 1)
	r.until("the message at launch", r.says("will not be able to join"))
	addresses := []string{r.Slack.URL(), r.Cloud.Endpoint()}
	if endpoint, _, ok := r.Cloud.Kubernetes("eks-workshop"); ok {
		addresses = append(addresses, endpoint)
	}
	r.Close()
	if left := children(t); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := net.Dial("tcp", u.Host); err == nil {
			c.Close()
			t.Errorf("something still listens at %s", address)
		}
	}
}
