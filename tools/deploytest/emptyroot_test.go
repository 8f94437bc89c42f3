//go:build commands && linux

package deploytest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	slackgo "github.com/slack-go/slack"
	"golang.org/x/sys/unix"

	"rollcall/infra/specs"
	"rollcall/stage"
	"rollcall/tools/testfile"
)

// certificates is where Linux distributions have those of authorities.
const certificates = "/etc/ssl/certs/ca-certificates.crt"

// buildProgram builds a program as tools/dist does for this machine.
func buildProgram(t *testing.T, name, dir string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	c := exec.Command("go", "build", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-o", path, "../../cmd/"+name)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	return path
}

// emptyRoot is a root folder with a release and the certificates of authorities, and nothing else.
// ROLLCALL_RELEASE names an unpacked release of linux/amd64 to be taken; else the packages of the
// functions are only names, as the stage runs its own programs.
func emptyRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	folder := filepath.Join(root, "release")
	if err := os.MkdirAll(filepath.Join(root, filepath.Dir(certificates)), 0o755); err != nil {
		t.Fatal(err)
	}
	if ca, err := os.ReadFile(certificates); err == nil {
		if err := os.WriteFile(filepath.Join(root, certificates), ca, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if given := os.Getenv("ROLLCALL_RELEASE"); given != "" {
		if err := os.CopyFS(folder, os.DirFS(given)); err != nil {
			t.Fatal(err)
		}
		return root
	}
	if err := os.MkdirAll(filepath.Join(folder, "functions"), 0o755); err != nil {
		t.Fatal(err)
	}
	buildProgram(t, "rollcall", folder)
	for _, name := range []string{"infra/RollcallStandard.template.json", "infra/RollcallSpoke.template.json", "infra/RollcallRelay.template.json", "deploy/clusterrole.yaml", "deploy/slack-app.yaml"} {
		testfile.Write(t, filepath.Join(folder, filepath.Base(name)), testfile.Read(t, "../../"+name))
	}
	for _, s := range specs.All() {
		testfile.Write(t, filepath.Join(folder, "functions", s.Name+".zip"), []byte(s.Name))
	}
	var sums bytes.Buffer
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(body), name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(folder, "SHA256SUMS"), sums.Bytes())
	return root
}

// terminal opens a terminal of its own (Linux, pts(4)).
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("NOT LOOKED AT: rollcall deploy from an empty root: no terminal can be opened: %v", err)
	}
	t.Cleanup(func() { person.Close() })
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return person, program
}

// typing answers questions as a person does, once each, and keeps what the terminal shows.
type typing struct {
	mu      sync.Mutex
	shown   bytes.Buffer
	answers []answer
}

type answer struct{ question, text string }

func (p *typing) read(from *os.File) {
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		p.shown.Write(buffer[:n])
		for len(p.answers) > 0 && strings.Contains(p.shown.String(), p.answers[0].question) {
			fmt.Fprintln(from, p.answers[0].text)
			p.answers = p.answers[1:]
		}
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// inRoot runs a release's program in its root, on a terminal.
func inRoot(t *testing.T, root string, env []string, answers []answer, args ...string) string {
	t.Helper()
	person, program := terminal(t)
	c := exec.Command("/release/rollcall", append(args, "--release", "/release")...)
	c.Dir, c.Env = "/", env
	c.Stdin, c.Stdout, c.Stderr = program, program, program
	c.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Setsid: true, Setctty: true}
	if os.Getuid() != 0 { // a user may change the root in a namespace of its own
		c.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	p := &typing{answers: answers}
	if err := c.Start(); err != nil {
		t.Skipf("NOT LOOKED AT: rollcall deploy from an empty root: the root cannot be changed here: %v", err)
	}
	program.Close()
	var reading sync.WaitGroup
	reading.Go(func() { p.read(person) })
	err := c.Wait()
	reading.Wait()
	if err != nil {
		t.Fatalf("rollcall %s: %v\n%s", strings.Join(args, " "), err, p.shown.String())
	}
	return p.shown.String()
}

// TestFromAnEmptyRoot: with nothing but a release and certificates, rollcall deploy brings about the
// first message, and rollcall deploy destroy leaves what it says.
func TestFromAnEmptyRoot(t *testing.T) {
	root, work := emptyRoot(t), t.TempDir()
	served := exec.CommandContext(t.Context(), buildProgram(t, "rollcall-stage", work), "serve", "--empty", "--rate", "20", "--environment", filepath.Join(work, "environment"), "--logs", filepath.Join(work, "log"))
	served.Dir, served.Cancel = "../..", func() error { return served.Process.Signal(os.Interrupt) }
	if err := served.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = served.Process.Signal(os.Interrupt); _ = served.Wait() }()
	env := map[string]string{}
	for range 600 {
		if text, err := os.ReadFile(filepath.Join(work, "environment")); err == nil && bytes.Contains(text, []byte("ROLLCALL_STAGE_SLACK=")) {
			for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
				key, value, _ := strings.Cut(line, "=")
				env[key] = value
			}
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	var own []string
	for _, key := range []string{"AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"} {
		own = append(own, key+"="+env[key])
	}
	cfg := aws.Config{Region: env["AWS_REGION"], BaseEndpoint: aws.String(env["AWS_ENDPOINT_URL"]), Credentials: credentials.NewStaticCredentialsProvider(env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"], "")}

	begun := time.Now()
	shown := inRoot(t, root, own, []answer{{"Type yes to continue", "yes"}, {"Slack bot token", stage.SlackToken}}, "deploy", "--channel", stage.Channel, "--clusters", "eks-workshop")
	if strings.Contains(shown, stage.SlackToken) {
		t.Error("the terminal shows the token")
	}
	deployed := time.Now()
	if _, err := autoscaling.NewFromConfig(cfg).SetDesiredCapacity(t.Context(), &autoscaling.SetDesiredCapacityInput{
		AutoScalingGroupName: aws.String("eks-new_nodegroup_2-e2ca4e02-248f-cb7e-45a7-6fa9b0230007"), DesiredCapacity: aws.Int32(1),
	}); err != nil {
		t.Fatal(err)
	}
	slack := slackgo.New(stage.SlackToken, slackgo.OptionAPIURL(strings.TrimRight(env["ROLLCALL_STAGE_SLACK"], "/")+"/"))
	first := ""
	for range 600 {
		history, err := slack.GetConversationHistoryContext(t.Context(), &slackgo.GetConversationHistoryParameters{ChannelID: stage.Channel})
		if err != nil {
			t.Fatal(err)
		}
		if len(history.Messages) > 0 {
			first = history.Messages[0].Text
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("deployed in %.1f s, first message %.1f s after the launch: %s", deployed.Sub(begun).Seconds(), time.Since(deployed).Seconds(), first)
	if !strings.Contains(first, "has no route to the internet") {
		t.Errorf("the first message: %q\n%s", first, shown)
	}
	shown = inRoot(t, root, own, []answer{{"Type yes to continue", "yes"}}, "deploy", "destroy")
	stacks, err := cloudformation.NewFromConfig(cfg).DescribeStacks(t.Context(), &cloudformation.DescribeStacksInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stacks.Stacks {
		t.Errorf("the stack %s is left\n%s", *s.StackName, shown)
	}
	// What was skipped is what it says that stays.
	for line := range strings.SplitSeq(shown, "\n") {
		if strings.Contains(line, "DELETE_SKIPPED") && !strings.Contains(line, "::Table ") && !strings.Contains(line, "::Secret ") && !strings.Contains(line, "::Bucket ") {
			t.Errorf("it does not say that this stays: %s", line)
		}
	}
}
