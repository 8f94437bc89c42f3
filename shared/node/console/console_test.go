package console

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/node/messages"
	"rollcall/shared/redact"
)

// healthy are consoles of nodes that joined, with the noise that they have:
// retries, refused connections and nodes not found yet.
func healthy() map[string]string {
	return map[string]string{
		"AL2023": `[    0.000000] Linux version 6.1.112-124.190.amzn2023.x86_64 (mockbuild@ip-10-0-35-65) (gcc (GCC) 11.4.1, GNU ld version 2.39) #1 SMP PREEMPT_DYNAMIC
[    0.000000] Command line: BOOT_IMAGE=(hd0,gpt1)/boot/vmlinuz-6.1.112 root=UUID=9c4c root=/dev/nvme0n1p1 console=tty0 console=ttyS0,115200n8 nvme_core.io_timeout=4294967295 rd.emergency=poweroff rd.shell=0 selinux=1 security=selinux quiet
[    0.416250] pci 0000:00:01.3: quirk: [io  0xb100-0xb10f] claimed by PIIX4 SMB
[    1.812350] systemd[1]: Hostname set to <localhost>.
` + "\x1b[0;32m  OK  \x1b[0m" + `] Reached target Local File Systems.
[  OK  ] Started systemd-networkd.service - Network Configuration.
         Starting cloud-init-local.serv… Initial cloud-init job (pre-networking)...
[    7.226001] cloud-init[1451]: Cloud-init v. 22.2.2 running 'init-local' at Fri, 20 Nov 2026 14:50:31 +0000. Up 7.10 seconds.
         Starting nodeadm-config.service - EKS Nodeadm Config...
[    8.100211] nodeadm[1495]: {"level":"info","ts":1795186232.5766215,"caller":"init/init.go:60","msg":"Loading configuration..","configSource":"imds://user-data"}
[    8.101922] nodeadm[1495]: SDK 2026/11/20 14:50:32 DEBUG request failed with unretryable error http response error StatusCode: 404, request to EC2 IMDS failed
[    8.110211] nodeadm[1495]: {"level":"info","ts":1795186232.5801215,"caller":"init/init.go:157","msg":"Fetching instance details.."}
[    8.120211] nodeadm[1495]: SDK 2026/11/20 14:50:32 DEBUG attempting waiter request, attempt count: 1
[    9.120211] nodeadm[1495]: SDK 2026/11/20 14:50:33 DEBUG retrying request EC2/DescribeInstances, attempt 2
[  OK  ] Finished nodeadm-config.service - EKS Nodeadm Config.
2026-11-20 14:50:35,001 - __init__.py[WARNING]: Unhandled unknown content-type (application/node.eks.aws) userdata: 'b'---'...'
[   12.013431] cloud-init[1629]: Cloud-init v. 22.2.2 running 'modules:final' at Fri, 20 Nov 2026 14:50:36 +0000. Up 12.01 seconds.
ci-info: no authorized SSH keys fingerprints found for user ec2-user.
-----BEGIN SSH HOST KEY KEYS-----
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAXf1d8nqHUjszdZeqzZ134kJXGbHGYvNf root@ip-10-42-192-10.us-west-2.compute.internal
-----END SSH HOST KEY KEYS-----
         Starting cloud-final.service - Execute cloud user/final scripts...
[   12.410000] cloud-init[1629]: Cloud-init v. 22.2.2 finished at Fri, 20 Nov 2026 14:50:36 +0000. Datasource DataSourceEc2.  Up 12.40 seconds
         Starting nodeadm-run.service - EKS Nodeadm Run...
[   13.000111] nodeadm[1701]: {"level":"info","ts":1795186237.1,"caller":"containerd/sandbox.go:49","msg":"Pulling sandbox image..","image":"602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.10"}
[   13.200111] nodeadm[1701]: E1120 14:50:37.699880    1584 remote_image.go:135] PullImage "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.10" from image service failed: rpc error: code = Unavailable desc = connection error
[  OK  ] Started containerd.service - containerd container runtime.
[  OK  ] Started kubelet.service - Kubernetes Kubelet.
[  OK  ] Finished nodeadm-run.service - EKS Nodeadm Run.
[   15.200111] kubelet[1790]: E1120 14:50:39.699880    1790 kubelet_node_status.go:107] "Unable to register node with API server" err="Post \"https://ABCD.gr7.us-west-2.eks.amazonaws.com/api/v1/nodes\": dial tcp 10.42.0.5:443: i/o timeout" node="n"
[   15.300111] kubelet[1790]: E1120 14:50:39.799880    1790 kubelet.go:3190] "No need to create a mirror pod, since failed to get node info from the cluster" err="node \"n\" not found" node="n"
[   15.400111] kubelet[1790]: E1120 14:50:39.799880    1790 kubelet.go:2451] "Error getting node" err="node \"n\" not found"

Amazon Linux 2023
Kernel 6.1.112-124.190.amzn2023.x86_64 on an x86_64 (-)

ip-10-42-192-10 login: `,
		"AL2": `[    0.000000] Linux version 5.10.228-219.884.amzn2.x86_64 (mockbuild@ip-10-0-60-11) (gcc10-gcc (GCC) 10.5.0) #1 SMP
[    0.561250] nvme nvme0: pci function 0000:00:04.0
[    2.120450] systemd[1]: Detected virtualization kvm.
[  OK  ] Reached target Basic System.
[   11.220113] cloud-init[2893]: Cloud-init v. 19.3-46.amzn2.0.2 running 'modules:final' at Fri, 20 Nov 2026 14:50:36 +0000. Up 11.20 seconds.
[   12.000000] cloud-init[2893]: + /etc/eks/bootstrap.sh prod --apiserver-endpoint https://ABCD.gr7.us-west-2.eks.amazonaws.com --b64-cluster-ca LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM1ekNDQWMr
2026-11-20T14:50:37+0000 [eks-bootstrap] INFO: starting...
2026-11-20T14:50:38+0000 [eks-bootstrap] INFO: Using kubelet version 1.32.9
2026-11-20T14:50:38+0000 [eks-bootstrap] INFO: --cluster-name is prod
Created symlink from /etc/systemd/system/multi-user.target.wants/containerd.service to /usr/lib/systemd/system/containerd.service.
         Starting pull sandbox image defined in containerd config.toml...
[   17.100000] pull-sandbox-image.sh[3307]: Attempt 1 of 5
[  OK  ] Started pull sandbox image defined in containerd config.toml.
[  OK  ] Started Kubernetes Kubelet.
2026-11-20T14:50:44+0000 [eks-bootstrap] INFO: complete!
[   19.100000] cloud-init[2893]: Cloud-init v. 19.3-46.amzn2.0.2 finished at Fri, 20 Nov 2026 14:50:44 +0000. Datasource DataSourceEc2.  Up 19.09 seconds
kubelet: W1120 14:50:45.299880 3401 reflector.go:324] failed to list *v1.Node: Unauthorized
kubelet: E1120 14:50:46.299880 3401 kubelet.go:2272] node "ip-10-42-192-10.us-west-2.compute.internal" not found
kubelet: I1120 14:50:48.299880 3401 kubelet_node_status.go:73] "Successfully registered node" node="ip-10-42-192-10.us-west-2.compute.internal"

Amazon Linux 2
ip-10-42-192-10 login: `,
		"Bottlerocket": `[    0.000000] Linux version 6.1.112 (builder@buildkitsandbox) (x86_64-bottlerocket-linux-gnu-gcc (GCC) 11.3.0) #1 SMP PREEMPT_DYNAMIC
[    0.000000] Command line: BOOT_IMAGE=(hd0,gpt3)/vmlinuz console=tty0 console=ttyS0,115200n8 net.ifnames=0 netdog.default-interface=eth0:dhcp4,dhcp6? quiet bootconfig root=/dev/dm-0 rootwait ro
[    1.310112] systemd[1]: Welcome to Bottlerocket OS 1.26.1 (aws-k8s-1.31)!
[  OK  ] Reached target Preparation for Network.
[  OK  ] Finished Bottlerocket userdata configuration system.
         Starting User-specified setting generators...
[    5.120001] sundog[1343]: 14:50:33 [INFO] Retrieved settings generators
[    5.420001] pluto[1350]: 14:50:33 [ERROR] EC2 DescribeInstances attempt failed, will retry: code=InvalidInstanceID.NotFound message=The instance ID does not exist
[  OK  ] Finished User-specified setting generators.
[  OK  ] Unmounted EFI System Partition Automount.
[  OK  ] Started containerd container runtime.
         Starting Kubelet...
[  OK  ] Started Kubelet.
[  OK  ] Reached target Bottlerocket final configuration complete.
[   12.040001] host-ctr[1502]: time="2026-11-20T14:50:41Z" level=info msg="pulling with Amazon ECR Resolver" ref="ecr.aws/arn:aws:ecr:us-west-2:328549459982:repository/bottlerocket-control:v0.7.20"
[   13.040001] host-ctr[1502]: time="2026-11-20T14:50:42Z" level=warning msg="failed to pull image. waiting 1s before retrying..." error="failed to resolve reference: i/o timeout"
`,
	}
}

// ids are what a reading names.
func ids(r Reading) []string {
	var list []string
	for _, m := range r.Matches {
		list = append(list, m.ID)
	}
	return list
}

// Every row is found by its own sample, in a start that came far enough, and
// by nothing less than it asks for.
func TestEveryRowFindsItsSample(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range messages.ConsoleRows() {
		if seen[row.ID] {
			t.Errorf("two rows are called %q", row.ID)
		}
		seen[row.ID] = true
		times := max(row.Least, 1)
		text := start + strings.Repeat(row.Sample+"\r\n", times)
		got := Read(text)
		if len(got.Matches) != 1 || got.Matches[0].ID != row.ID {
			t.Errorf("%s: its sample is read as %q", row.ID, ids(got))
			continue
		}
		if m := got.Matches[0]; m.Times != times || m.Certain == row.Guess || m.Title != row.Title || m.Means != row.Meaning || m.Next != row.Next || m.Check != row.Check {
			t.Errorf("%s: match %+v is not its row", row.ID, m)
		}
		if times > 1 {
			if got := Read(start + strings.Repeat(row.Sample+"\n", times-1)); len(got.Matches) > 0 {
				t.Errorf("%s: found after %d lines, wants %d", row.ID, times-1, times)
			}
		}
		if got := Read(text + kernel + "\n[  OK  ] Reached target Basic System.\n"); len(got.Matches) > 0 {
			t.Errorf("%s: still there after another start: %q", row.ID, ids(got))
		}
		registered := Read(text + "kubelet[1]: \"Successfully registered node\" node=\"n\"\n")
		if (len(registered.Matches) > 0) != row.Late && row.Phase != messages.InKernel {
			t.Errorf("%s: late is %t, but after the node registered: %q", row.ID, row.Late, ids(registered))
		}
	}
}

func TestRowsHaveWords(t *testing.T) {
	for _, row := range messages.ConsoleRows() {
		if n := utf8.RuneCountInString(row.Title); n == 0 || n > 48 || strings.HasSuffix(row.Title, ".") {
			t.Errorf("%s: title %q has %d runes, want 1 to 48 and no full stop", row.ID, row.Title, n)
		}
		if !strings.HasSuffix(row.Meaning, ".") || !strings.HasSuffix(row.Next, ".") {
			t.Errorf("%s: meaning and next step are sentences", row.ID)
		}
		for _, choice := range append(row.All, row.None) {
			for _, part := range choice {
				if part != strings.ToLower(part) || part == "" {
					t.Errorf("%s: fragment %q can never be in a line in lower case", row.ID, part)
				}
			}
		}
	}
}

const (
	kernel = "[    0.000000] Linux version 6.1.112-124.190.amzn2023.x86_64 (mockbuild@ip-10-0-35-65) (gcc 11.4.1)"
	start  = kernel + "\n[  OK  ] Reached target Basic System.\n"
)

func TestRead(t *testing.T) {
	const (
		timeout  = `kubelet[2]: "Unable to register node with API server" err="Post \"https://A.gr7.us-west-2.eks.amazonaws.com/api/v1/nodes\": dial tcp 10.0.0.1:443: i/o timeout"` + "\n"
		refused  = `kubelet[2]: failed to list *v1.Node: Get "https://A.gr7.us-west-2.eks.amazonaws.com/": dial tcp 10.0.0.1:443: connect: connection refused` + "\n"
		unauth   = "kubelet[2]: E1 reflector.go:123] Failed to list *v1.Service: Unauthorized\n"
		notFound = "kubelet[2]: E1 kubelet.go:2272] node \"ip-10-0-1-36.internal\" not found\n"
		fatal    = `nodeadm[1]: {"level":"fatal","caller":"nodeadm/main.go:36","msg":"Command failed","error":"exit status 1"}` + "\n"
		panicked = "[    1.2] Kernel panic - not syncing: Attempted to kill init!\n"
	)
	tests := []struct {
		name  string
		text  string
		stage Stage
		want  []string
	}{
		{"nothing", "", Silent, nil},
		{"only line ends and colours", "\x1b[2J\r\n\r\n \t\n", Silent, nil},
		{"a line that is nothing known", "hello", Kernel, nil},
		{"one timeout", start + timeout, Kubelet, nil},
		{"timeouts that last", start + strings.Repeat(timeout, 3), Kubelet, []string{"api-timeout"}},
		{"timeouts, then it registered", start + strings.Repeat(timeout, 9) + "kubelet[2]: \"Successfully registered node\" node=\"n\"\n", Registered, nil},
		{"timeouts, then it is refused: the last state counts", start + strings.Repeat(timeout, 9) + strings.Repeat(unauth, 2), Kubelet, []string{"kubelet-unauthorized"}},
		{"refused, then timeouts", start + strings.Repeat(unauth, 9) + strings.Repeat(timeout, 3), Kubelet, []string{"api-timeout"}},
		{"timeouts, then one answer that is not counted yet", start + strings.Repeat(timeout, 9) + unauth, Kubelet, nil},
		{"a few refused connections", start + strings.Repeat(refused, 4), Kubelet, nil},
		{"node not found is said by every new node", start + strings.Repeat(notFound, 200), Kubelet, nil},
		{"nodeadm reads user data, and its own name is not in the line", start + `{"level":"info","caller":"init/init.go:57","msg":"Loading configuration..","configSource":"imds://user-data"}` + "\n", Bootstrap, nil},
		{"nodeadm failed", start + fatal, Bootstrap, []string{"nodeadm-failed"}},
		{"nodeadm failed, tried again and got through", start + fatal + "[  OK  ] Finished nodeadm-config.service - EKS Nodeadm Config.\n", Bootstrap, nil},
		{"nodeadm failed, and its unit with it", start + fatal + "[FAILED] Failed to start nodeadm-config.service - EKS Nodeadm Config.\n[DEPEND] Dependency failed for nodeadm-run.service - EKS Nodeadm Run.\n", Bootstrap, []string{"nodeadm-failed", "nodeadm-unit"}},
		{"an earlier start failed", start + fatal + start, System, nil},
		{"a panic, and the next start has said nothing yet", start + panicked + kernel + "\n", Kernel, []string{"kernel-panic"}},
		{"a panic, and the next start is well", start + panicked + start, System, nil},
		{"a guess comes after what is certain", start + "write /x: no space left on device\n" + fatal, Bootstrap, []string{"nodeadm-failed", "disk-full"}},
		{"the first line is cut", "level\":\"fatal\",\"caller\":\"nodeadm/main.go:36\",\"msg\":\"Command failed\",\"error\":\"Name is missing in cluster configuration\"}\n", Bootstrap, []string{"nodeadm-incomplete"}},
		{"colours in the words", start + "[\x1b[0;1;31mFAILED\x1b[0m] Failed to start \x1b[0;1;39mnodeadm-co…service\x1b[0m - EKS Nodeadm Config.\r\n", System, []string{"nodeadm-unit"}},
		{"not UTF-8", start + "\xff\xfeKernel panic\xff - not syncing: x\x80\n", System, []string{"kernel-panic"}},
		{"64 KB of one line", strings.Repeat("x", 64<<10), Kernel, nil},
		{"more than EC2 gives: the end counts", strings.Repeat("x\n", maxText/2) + start + fatal, Bootstrap, []string{"nodeadm-failed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Read(tt.text)
			if diff := cmp.Diff(ids(got), tt.want); diff != "" {
				t.Errorf("matches (-got +want):\n%s", diff)
			}
			if got.Stage != tt.stage {
				t.Errorf("it came as far as %s, want %s", got.Stage, tt.stage)
			}
		})
	}
}

func TestHealthyConsolesHaveNoMatch(t *testing.T) {
	for name, text := range healthy() {
		r := Read(text)
		if len(r.Matches) > 0 {
			t.Errorf("%s: %+v", name, r.Matches)
		}
		if r.Stage < Bootstrap {
			t.Errorf("%s: it came only as far as %s", name, r.Stage)
		}
		// Cut anywhere at its beginning, as EC2 does, it stays healthy.
		for i := range text {
			if r := Read(text[i:]); len(r.Matches) > 0 {
				t.Fatalf("%s, from byte %d: %+v", name, i, r.Matches)
			}
		}
	}
}

// What Read gives has gone through the redactor.
func TestLinesHoldNoSecrets(t *testing.T) {
	got := Read(start + "Exited with error on line 358 --creds AWS:eyJwYXlsb2FkIjoi password: hunter2\n").Matches[0].Line
	if want := "Exited with error on line 358 --creds AWS:… password: …"; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
}

// TestSamplesStay: the redactor leaves the lines that the rows match as they are.
func TestSamplesStay(t *testing.T) {
	r, files := redact.New(redact.Ellipsis), redact.New(redact.Masked)
	for _, row := range messages.ConsoleRows() {
		want := strings.TrimSpace(row.Sample)
		if at := strings.Index(row.Sample, `,"stacktrace"`); at > 0 {
			want = row.Sample[:at]
		}
		if got := r.Line(want); got != want {
			t.Errorf("redacted %q\n got %q", want, got)
		}
		if got := files.Value("Output", want); got != want {
			t.Errorf("redacted in a file %q\n got %q", want, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, row := range messages.ConsoleRows() {
		f.Add(start + row.Sample)
	}
	for _, text := range healthy() {
		f.Add(text)
	}
	f.Add("\x1b[31;")
	f.Add("\x1b]0;title\x07grub rescue>\r\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := Read(text)
		if r.Stage < Silent || r.Stage > Registered {
			t.Errorf("stage %d", r.Stage)
		}
		if r.Stage == Silent && len(r.Matches) > 0 {
			t.Errorf("nothing was said, and %v found", r.Matches)
		}
		for _, m := range r.Matches {
			if m.ID == "" || m.Line == "" || m.Times < 1 || !utf8.ValidString(m.Line) || strings.ContainsAny(m.Line, "\r\n\x1b") {
				t.Errorf("match %+v", m)
			}
		}
		// Whatever was said before, a start that gets through is well.
		if again := Read(text + "\n" + start + "kubelet[1]: \"Successfully registered node\"\n"); again.Stage != Registered || len(again.Matches) > 0 {
			t.Errorf("after a good start: %v, %+v", again.Stage, again.Matches)
		}
	})
}
