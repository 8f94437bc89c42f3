package userdata

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What EKS writes, and the largest script that EC2 takes.
func BenchmarkDecode(b *testing.B) {
	script := "#!/bin/bash\n"
	for len(script) < 15<<10 {
		script += "export PATH=\"$PATH:/opt/bin\" # a comment\necho \"$(date)\" >> /var/log/start.log\n"
	}
	for name, data := range map[string]string{
		"NodeConfig": mixed("application/node.eks.aws\n\n" + plain),
		"script":     script + "/etc/eks/bootstrap.sh prod\n",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Decode([]byte(data)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestBootstrap(t *testing.T) {
	call := func(change func(*Document)) Document {
		return with(Document{Kinds: []Kind{Bootstrap}, Name: given("prod"), Calls: 1, Describes: true}, change)
	}
	same := func(*Document) {}
	both := func(d *Document) { d.Endpoint, d.CA, d.Describes = given(endpoint), given(ca), false }
	tests := []struct {
		name   string
		script string
		want   Document
	}{
		{"the name alone", "/etc/eks/bootstrap.sh prod\n", call(same)},
		{"quotes", `sudo /etc/eks/bootstrap.sh "prod" --kubelet-extra-args '--node-labels=a=b,c=d --max-pods=58'`, call(func(d *Document) {
			d.Flags, d.MaxPods = []string{"--node-labels=a=b,c=d", "--max-pods=58"}, given("58")
			d.Labels = map[string]string{"a": "b", "c": "d"}
		})},
		{"what EKS writes", "set -ex\nB64_CLUSTER_CA=" + ca + "\nAPI_SERVER_URL=" + endpoint + "\nK8S_CLUSTER_DNS_IP=172.20.0.10\n/etc/eks/bootstrap.sh prod --kubelet-extra-args '--max-pods=17' --b64-cluster-ca $B64_CLUSTER_CA --apiserver-endpoint $API_SERVER_URL --dns-cluster-ip $K8S_CLUSTER_DNS_IP --use-max-pods false\n",
			call(func(d *Document) {
				both(d)
				d.Flags, d.MaxPods, d.DNS = []string{"--max-pods=17"}, given("17"), []string{"172.20.0.10"}
			})},
		{"lines that go on", "/etc/eks/bootstrap.sh \\\n  --apiserver-endpoint " + endpoint + " \\\n  --b64-cluster-ca '" + ca + "' \\\n  prod", call(both)},
		{"CRLF", "/etc/eks/bootstrap.sh \\\r\n prod\r\n", call(same)},
		{"commented out", "# /etc/eks/bootstrap.sh staging\n/etc/eks/bootstrap.sh prod # --apiserver-endpoint x\n", call(same)},
		{"a variable", "export CLUSTER=\"pr\"\nCLUSTER+=od\n/etc/eks/bootstrap.sh ${CLUSTER}", call(same)},
		{"a variable that is not set", "/etc/eks/bootstrap.sh ${cluster_name}", call(func(d *Document) { d.Name = computed() })},
		{"a command", `/etc/eks/bootstrap.sh "$(aws ec2 describe-tags --query 'Tags[0].Value' --output text)" --b64-cluster-ca ` + "`cat ca`" + ` --apiserver-endpoint $X`, call(func(d *Document) {
			d.Name, d.CA, d.Endpoint, d.Describes = computed(), computed(), computed(), false
		})},
		{"labels that are partly computed", `/etc/eks/bootstrap.sh prod --kubelet-extra-args "--node-labels=node-role.kubernetes.io/x=$(id),a=b"`, call(func(d *Document) {
			d.Flags = []string{"--node-labels=node-role.kubernetes.io/x=…,a=b"}
			d.Labels = map[string]string{"node-role.kubernetes.io/x": "", "a": "b"}
		})},
		{"a redirection", "/etc/eks/bootstrap.sh > /var/log/b.log prod 2>&1 || shutdown -h now", call(same)},
		{"twice: the last one counts", "/etc/eks/bootstrap.sh staging\n/etc/eks/bootstrap.sh prod", call(func(d *Document) { d.Calls = 2 })},
		{"in a branch", "if [ -f /x ]; then\nN=prod\n/etc/eks/bootstrap.sh $N\nfi", call(func(d *Document) { d.Name, d.Branch = computed(), true })},
		{"a flag with =: the script takes it for the name", "/etc/eks/bootstrap.sh --apiserver-endpoint=x prod", call(func(d *Document) { d.Name = given("--apiserver-endpoint=x") })},
		{"no name", "/etc/eks/bootstrap.sh", call(func(d *Document) { d.Name = Setting{} })},
		{"edited before", "sed -i 's/a/b/' /etc/eks/bootstrap.sh\n/etc/eks/bootstrap.sh prod", call(func(d *Document) { d.Scripted = []string{"bootstrap.sh"} })},
		{"in a here-document", "cat <<'EOF' > /run.sh\n/etc/eks/bootstrap.sh prod\nEOF\nbash /run.sh", Document{Kinds: []Kind{Shell}, Scripted: []string{"bootstrap.sh"}, Speaks: true}},
		{"another script", "yum install -y htop", Document{Kinds: []Kind{Shell}}},
		{"a script from elsewhere", "aws s3 cp s3://b/join.sh . && bash join.sh", Document{Kinds: []Kind{Shell}, Scripted: []string{"a script from elsewhere"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, []byte("#!/bin/bash -xe\n"+tt.script), tt.want) })
	}
}

func TestCloudConfig(t *testing.T) {
	check(t, []byte("#cloud-config\nruncmd:\n- yum update\n- [/etc/eks/bootstrap.sh, prod]\n"), Document{
		Kinds: []Kind{CloudConfig, Bootstrap}, Name: given("prod"), Calls: 1, Describes: true,
	})
	check(t, []byte("#cloud-config\nwrite_files:\n- path: /etc/eks/nodeadm.d/x.yaml\n"), Document{Kinds: []Kind{CloudConfig}, Scripted: []string{"nodeadm"}, DropIn: true, Speaks: true})
	check(t, []byte("#cloud-config\nwrite_files:\n- path: /x.sh\n  encoding: gz+b64\n  content: H4s=\nruncmd:\n- /x.sh\n"), Document{
		Kinds: []Kind{CloudConfig}, Scripted: []string{"a file that it writes"},
	})
	check(t, []byte("#cloud-config\n\t[broken"), Document{Kinds: []Kind{CloudConfig}})
}

func FuzzShell(f *testing.F) {
	f.Add("A=1\n/etc/eks/bootstrap.sh $A ${B:-x} \"$(x)\" `y` <<EOF\nz\nEOF\n")
	f.Add("/etc/eks/bootstrap.sh 'a'\\''b' 2>&1 >x | tee; if x; then A=1; fi; ${")
	f.Fuzz(func(t *testing.T, script string) {
		d := newReader()
		d.shell(script)
		d.readFlags()
		newBudget().commands(script)
	})
}

func FuzzCloudConfig(f *testing.F) {
	f.Add("#cloud-config\nruncmd:\n- [/etc/eks/bootstrap.sh, prod]\n- &a [*a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		d := newReader()
		d.cloudConfig(text)
	})
}

// attacks are documents of at most 16 KB, what EC2 takes, that would take
// minutes or gigabytes to read without a budget for the whole of them.
func attacks() map[string]struct {
	data []byte
	of   Limit
} {
	script := "#!/bin/bash\n" + strings.Repeat("echo hello\n", 90<<10/11)
	nested := zipped(script)
	for level := range 3 {
		part := fmt.Sprintf("--b%d\nContent-Type: multipart/mixed; boundary=b%d\nContent-Transfer-Encoding: base64\n\n%s\n", level, level-1, base64.StdEncoding.EncodeToString(nested))
		part = strings.Replace(part, "multipart/mixed; boundary=b-1", "text/x-shellscript", 1)
		nested = zipped(strings.Repeat(part, 300) + fmt.Sprintf("--b%d--\n", level))
	}
	top := mixed("multipart/mixed; boundary=b2\nContent-Transfer-Encoding: base64\n\n" + base64.StdEncoding.EncodeToString(nested) + "\n")
	word := "A=" + strings.Repeat("x", 1000) + "\n" + strings.Repeat("A=$A$A\n", 6)
	merges := "#cloud-config\na0: &a0 {k: v}\n"
	for n := 1; n <= 6; n++ {
		merges += fmt.Sprintf("a%d: &a%d {%s}\n", n, n, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("<<: *a%d, ", n-1), 150), ", "))
	}
	merges += "<<: *a6\n"
	return map[string]struct {
		data []byte
		of   Limit
	}{
		"nested multi-parts of gzip": {[]byte(top), Unpacked},
		"a part of every part":       {zipped(mixed(manyOf("text/x-shellscript\n\n"+script[:400]+"\n", 900)...)), Parts},
		"one gzip":                   {zipped(strings.Repeat("x", 4<<20)), Unpacked},
		"gzip of gzip":               {zipped(string(zipped(strings.Repeat("x", 64<<20)))), Unpacked},
		"a few parts of gzip":        {[]byte(mixed(manyOf("text/x-shellscript\n\n"+string(zipped(strings.Repeat("#", 400<<10))), 5)...)), Unpacked},
		"a long word, many times":    {[]byte("#!/bin/bash\n" + word + strings.Repeat("echo $A\n", 1500)), Work},
		"a word that is appended to": {[]byte("#!/bin/bash\n" + word + strings.Repeat("A+=x\n", 2500)), Work},
		"a long word in PowerShell": {zipped("<powershell>\n$a = '" + strings.Repeat("x", 4000) + "'\n" +
			strings.Repeat("& x -eksclustername \""+strings.Repeat("$a", 16)+"\"\n", 9000)), Work},
		"arguments of the kubelet": {[]byte("#!/bin/bash\n" + word +
			strings.Repeat("/etc/eks/bootstrap.sh x --kubelet-extra-args \"$A\"\n", 280)), Work},
		"merge keys of merge keys": {[]byte(merges), Work},
		"here-documents in a line": {zipped("#!/bin/bash\n" + strings.Repeat("<<a ", 100_000) + "\n"), Work},
		"keys in keys of TOML":     {zipped("settings." + strings.Repeat("a.", 200_000) + "b=1\n"), Work},
		"an alias, many times": {[]byte("#cloud-config\nx: &x " + strings.Repeat("x", 4000) + "\nruncmd: [" +
			strings.TrimSuffix(strings.Repeat("*x ,", 2500), ",") + "]\n"), Work},
		"flags by an alias": {zipped(plain + "    - &x " + strings.Repeat("x", 4000) + "\n" + strings.Repeat("    - *x\n", 50_000)), Work},
	}
}

func manyOf(s string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = s
	}
	return list
}

func TestOverBudget(t *testing.T) {
	for name, tt := range attacks() {
		t.Run(name, func(t *testing.T) {
			if len(tt.data) > 16<<10 {
				t.Fatalf("%d bytes: EC2 does not take that", len(tt.data))
			}
			d, err := Decode(tt.data)
			var over *OverBudget
			if !errors.As(err, &over) || over.Of != tt.of {
				t.Fatalf("Decode of %d bytes: %v, %v, want over budget for %s", len(tt.data), d.Kinds, err, tt.of)
			}
			if !d.Empty() || over.Most <= 0 {
				t.Errorf("Decode = %+v with %+v: what was read so far must not be taken for the whole", d, over)
			}
			if name, ok := Cluster(tt.data); ok {
				t.Errorf("Cluster = %q of a document that was not read", name)
			}
		})
	}
}

// What EC2 takes at most, and what is larger than anybody's, are in the budget.
func TestWithinBudget(t *testing.T) {
	lines := "V=/opt/bin\n" + strings.Repeat("cp \"$V/agent\" /usr/bin # a comment\necho \"$(date)\" >> /var/log/start.log\n", 1200)
	const call = "/etc/eks/bootstrap.sh prod\n"
	for name, data := range map[string][]byte{
		"100 KB of script in gzip": zipped("#!/bin/bash\n" + lines + call),
		"64 parts":                 []byte(mixed(append(manyOf("text/x-shellscript\n\n#!/bin/bash\necho hello\n", 63), "text/x-shellscript\n\n#!/bin/bash\n"+call)...)),
		"a multi-part in gzip":     zipped(mixed("text/x-shellscript\n\n#!/bin/bash\n"+lines, "text/x-shellscript\n\n#!/bin/bash\n"+call)),
	} {
		d, err := Decode(data)
		if err != nil || d.Name != given("prod") {
			t.Errorf("%s: Decode = %+v, %v, want the cluster's name", name, d.Name, err)
		}
	}
}

func BenchmarkOverBudget(b *testing.B) {
	for name, tt := range attacks() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Decode(tt.data); err == nil {
					b.Fatal("no error")
				}
			}
		})
	}
}

const (
	endpoint = "https://0123456789ABCDEF0123456789ABCDEF.gr7.us-west-2.eks.amazonaws.com"
	ca       = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
)

const plain = `---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: prod
    apiServerEndpoint: ` + endpoint + `
    certificateAuthority: ` + ca + `
    cidr: 172.20.0.0/16
  kubelet:
    config:
      maxPods: 29
      clusterDNS: [172.20.0.10]
    flags:
    - "--node-labels=team=a,eks.amazonaws.com/nodegroup=workers"
`

// mixed is a multi-part of the parts, each "type\n\ntext".
func mixed(parts ...string) string {
	text := "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n"
	for _, p := range parts {
		text += "--//\nContent-Type: " + p + "\n"
	}
	return text + "--//--\n"
}

func given(v string) Setting { return Setting{Value: v, Given: true} }

func computed() Setting { return Setting{Given: true, Computed: true} }

func zipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

func encoded(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// whole is what plain says.
func whole() Document {
	return Document{
		Kinds: []Kind{NodeConfig}, Name: given("prod"), Endpoint: given(endpoint), CA: given(ca), ServiceCIDR: given("172.20.0.0/16"),
		DNS: []string{"172.20.0.10"}, MaxPods: given("29"), Flags: []string{"--node-labels=team=a,eks.amazonaws.com/nodegroup=workers"},
		Labels: map[string]string{"team": "a", "eks.amazonaws.com/nodegroup": "workers"},
	}
}

func with(d Document, change func(*Document)) Document {
	change(&d)
	return d
}

func check(t *testing.T, data []byte, want Document) {
	t.Helper()
	got, err := Decode(data)
	if err != nil {
		t.Fatalf("Decode: %v", err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("Decode (-want +got):\n%s", diff)
	}
}

func TestDecodeWrapping(t *testing.T) {
	part := whole()
	part.Multipart = true
	tests := []struct {
		name string
		data string
		want Document
	}{
		{"empty", "", Document{}},
		{"blank", " \n\t", Document{}},
		{"plain", plain, whole()},
		{"gzip", string(zipped(plain)), whole()},
		{"base64 twice", encoded([]byte(plain)), whole()},
		{"base64 of gzip", encoded(zipped(plain)), whole()},
		{"base64 of base64 of gzip", encoded([]byte(encoded(zipped(plain)))), whole()},
		{"MIME", mixed("application/node.eks.aws\n\n" + plain), part},
		{"MIME, gzip in a part of base64", mixed("application/node.eks.aws\nContent-Transfer-Encoding: base64\n\n" + encoded(zipped(plain))), part},
		{"MIME, no line end at the end", strings.TrimSpace(mixed("application/node.eks.aws\n\n" + plain)), part},
		{"MIME with CRLF", strings.ReplaceAll(mixed("application/node.eks.aws\n\n"+plain), "\n", "\r\n"), part},
		{"a word that is base64 too", "abcdefgh", Document{Kinds: []Kind{Noise}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, []byte(tt.data), tt.want) })
	}
}

func TestDecodeIsBounded(t *testing.T) {
	if _, err := Decode(zipped(plain)[:60]); err == nil || errors.As(err, new(*OverBudget)) {
		t.Errorf("Decode of broken gzip: %v, want another error", err)
	}
	// Variables that double each other.
	script := "#!/bin/bash\nA=xxxxxxxx\n" + strings.Repeat("A=$A$A\n", 60) + "/etc/eks/bootstrap.sh $A\n"
	d, err := Decode([]byte(script))
	if err != nil || !d.Name.Computed {
		t.Errorf("Decode = %v, %v, want a computed name", d.Name, err)
	}
}

func TestNoiseIsNotUnderstood(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		data := make([]byte, 16<<10)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		d, err := Decode(data)
		if err != nil || !cmp.Equal(d.Kinds, []Kind{Noise}) || len(d.Faults) > 0 {
			t.Fatalf("Decode = %+v, %v, want noise", d, err)
		}
	}
}

func TestCluster(t *testing.T) {
	for data, want := range map[string]string{
		"": "", "noise": "", plain: "prod",
		"#!/bin/bash\n/etc/eks/bootstrap.sh prod":          "prod",
		"#!/bin/bash\n/etc/eks/bootstrap.sh $(cat name)":   "",
		"[settings.kubernetes]\ncluster-name = \"prod\"\n": "prod",
	} {
		got, ok := Cluster([]byte(data))
		if got != want || ok != (want != "") {
			t.Errorf("Cluster(%q) = %q, %t, want %q", data, got, ok, want)
		}
	}
}

// No secret: faults name formats, lines and settings, never text of the user.
func TestFaultsHoldNoText(t *testing.T) {
	const secret = "hunter2"
	for _, text := range []string{
		"apiVersion: node.eks.aws/" + secret + "\nkind: NodeConfig\n",
		"apiVersion: node.eks.aws/v1alpha1\nkind: " + secret + "NodeConfig\n",
		"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: *" + secret + "\n",
		"[settings.kubernetes]\ncluster-name = " + secret + "\n",
		mixed("text/x-shellscript\n" + secret + ": x\n#!/bin/bash\n"),
	} {
		d, err := Decode([]byte(text))
		if err != nil || len(d.Faults) == 0 {
			t.Errorf("Decode(%q) = %+v, %v, want faults", text, d, err)
		}
		for _, f := range d.Faults {
			if strings.Contains(f.Detail, secret) {
				t.Errorf("fault %+v holds the text", f)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", plain, mixed("application/node.eks.aws\n\n"+plain, "text/x-shellscript\n\n#!/bin/bash\n/etc/eks/bootstrap.sh prod"),
		mixed("text/x-shellscript\n#!/bin/bash\necho"), string(zipped(plain)), encoded([]byte(plain)),
		"#cloud-config\nruncmd:\n- [/etc/eks/bootstrap.sh, prod]\n", "<powershell>\n& $x -EKSClusterName prod\n</powershell>",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Decode(data)
		if err == nil && len(bytes.TrimSpace(data)) > 0 && d.Empty() && !isGzip(data) && len(data) < 8 {
			t.Errorf("Decode(%q) is empty", data)
		}
		Cluster(data)
		Authorities(d.CA.Value)
	})
}

func TestEssential(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"a script that joins", "#!/bin/bash\nset -e\necho hunter2\nNAME=prod\n/etc/eks/bootstrap.sh $NAME \\\n  --b64-cluster-ca Zm9v\n# end\n", "#!/bin/bash\n\n\nNAME=prod\n/etc/eks/bootstrap.sh $NAME \\\n  --b64-cluster-ca Zm9v\n\n"},
		{"a script that does not", "#!/bin/bash\necho hunter2\nyum install -y x\n", "#!/bin/bash\n\n\n"},
		{"no format", "hunter2\n", "hunter2\n"},
	} {
		got := Essential(tt.text)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	const mime = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n--B\nContent-Type: application/node.eks.aws\n\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: prod\n  note: hunter2\n\n--B\nContent-Type: text/x-shellscript\n\n#!/bin/bash\necho hunter2\n--B--\n"
	was, err := Decode([]byte(mime))
	if err != nil {
		t.Fatal(err)
	}
	is, err := Decode([]byte(Essential(mime)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(was, is); diff != "" || strings.Contains(Essential(mime), "hunter2") {
		t.Errorf("what is read of the parts of MIME (-want +got):\n%s\n%s", diff, Essential(mime))
	}
}

func TestBottlerocket(t *testing.T) {
	whole := Document{
		Kinds: []Kind{Bottlerocket}, Name: given("prod"), Endpoint: given(endpoint), CA: given(ca), DNS: []string{"172.20.0.10"}, MaxPods: given("58"),
		Labels: map[string]string{"team": "a"},
	}
	const body = "cluster-name = \"prod\"\n\"api-server\" = \"" + endpoint + "\"\ncluster-certificate = '" + ca + "'\ncluster-dns-ip = \"172.20.0.10\"\nmax-pods = 58\n"
	tests := []struct {
		name string
		text string
		want Document
	}{
		{"a table", "[settings.kubernetes]\n" + body + "[settings.kubernetes.node-labels]\nteam = \"a\"\n", whole},
		{"a quoted table", "[settings.\"kubernetes\"]\n" + body + "[settings.'kubernetes'.node-labels]\nteam = \"a\"\n", whole},
		{"dotted keys", "settings.kubernetes.cluster-name = \"prod\"\nsettings.kubernetes.cluster-dns-ip = [\"a\", \"b\"]\n", Document{
			Kinds: []Kind{Bottlerocket}, Name: given("prod"), DNS: []string{"a", "b"},
		}},
		{"bootstrap containers", "[settings.bootstrap-containers.x]\nsource = \"y\"\n", Document{Kinds: []Kind{Bottlerocket}, Scripted: []string{"Bottlerocket settings"}}},
		{"broken", "[settings.kubernetes]\ncluster-name = prod\n", Document{
			Kinds: []Kind{Bottlerocket}, Faults: []Fault{{Kind: BadTOML, Line: 2, Detail: "the settings are no valid TOML"}},
		}},
		{"a key twice", "[settings.kubernetes]\nmax-pods = 1\nmax-pods = 2\n", Document{
			Kinds: []Kind{Bottlerocket}, Faults: []Fault{{Kind: BadTOML, Line: 3, Detail: "the settings are no valid TOML"}},
		}},
		{"a number for a name", "[settings.kubernetes]\ncluster-name = 5\n", Document{
			Kinds: []Kind{Bottlerocket}, Faults: []Fault{{Kind: BadType, Detail: "settings.kubernetes.cluster-name is not a string"}},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, []byte(tt.text), tt.want) })
	}
}

func TestWindows(t *testing.T) {
	const head = "<powershell>\n[string]$EKSBinDir = \"$env:ProgramFiles\\Amazon\\EKS\"\n[string]$EKSBootstrapScriptFile = \"$EKSBinDir\\Start-EKSBootstrap.ps1\"\n"
	tests := []struct {
		name string
		text string
		want Document
	}{
		{"all", head + "& $EKSBootstrapScriptFile -EKSClusterName \"prod\" -APIServerEndpoint '" + endpoint + "' -Base64ClusterCA " + ca + " -KubeletExtraArgs \"--node-labels=a=b --max-pods=20\" 3>&1 4>&1\n</powershell>", Document{
			Kinds: []Kind{Windows}, Name: given("prod"), Endpoint: given(endpoint), CA: given(ca), Calls: 1,
			Flags: []string{"--node-labels=a=b", "--max-pods=20"}, MaxPods: given("20"), Labels: map[string]string{"a": "b"},
		}},
		{"lines that go on, a variable, other case", "<powershell>\r\n$c = 'prod'\r\n& $f `\r\n  -eksclustername $C `\r\n  -ServiceCIDR 172.20.0.0/16\r\n</powershell>", Document{
			Kinds: []Kind{Windows}, Name: given("prod"), ServiceCIDR: given("172.20.0.0/16"), Calls: 1, Describes: true,
		}},
		{"computed", "<powershell>\n& $f -EKSClusterName (Get-Content x) -APIServerEndpoint $e -Base64ClusterCA $(x)\n</powershell>", Document{
			Kinds: []Kind{Windows}, Name: computed(), Endpoint: computed(), CA: computed(), Calls: 1,
		}},
		{"commented out", "<powershell>\n# & $f -EKSClusterName prod\n</powershell>", Document{Kinds: []Kind{PowerShell}}},
		{"another script", "<powershell>\nWrite-Host hi\n</powershell>", Document{Kinds: []Kind{PowerShell}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, []byte(tt.text), tt.want) })
	}
}

func TestAuthorities(t *testing.T) {
	if got := Authorities(ca); len(got) != 1 || string(got[0]) != "\x30\x82\x01" {
		t.Errorf("Authorities = %x, want one of three bytes", got)
	}
	for _, bad := range []string{"", "not base64!", "cHJvZA=="} {
		if got := Authorities(bad); got != nil {
			t.Errorf("Authorities(%q) = %x, want none", bad, got)
		}
	}
}

func FuzzBottlerocket(f *testing.F) {
	f.Add("[settings.kubernetes]\ncluster-name = \"prod\"\nmax-pods = 1\n[settings.kubernetes.node-labels]\na = [1]\n")
	f.Fuzz(func(t *testing.T, text string) {
		d := newReader()
		d.bottlerocket(text)
	})
}

func FuzzPowerShell(f *testing.F) {
	f.Add("<powershell>\n[string]$a = \"$env:b\"\n& $a -EKSClusterName \"$(x)${y}`\"\" `\n-x:y </powershell>")
	f.Fuzz(func(t *testing.T, text string) {
		d := newReader()
		d.powershell(text)
		d.readFlags()
	})
}

func TestMultipart(t *testing.T) {
	const config = "application/node.eks.aws\n\n" + plain
	const script = "text/x-shellscript; charset=\"us-ascii\"\n\n#!/bin/bash\necho hello\n"
	multi := func(change func(*Document)) Document {
		return with(whole(), func(d *Document) { d.Multipart = true; change(d) })
	}
	tests := []struct {
		name string
		text string
		want Document
	}{
		{"a script first", mixed(script, config), multi(func(d *Document) { d.Kinds = []Kind{Shell, NodeConfig} })},
		{"no empty line behind a header", mixed("text/x-shellscript\n#!/bin/bash\n", config), multi(func(d *Document) {
			d.Kinds = []Kind{Shell, NodeConfig}
			d.Faults = []Fault{{Kind: BadMIME, Part: 1, Detail: "the header of part 1 is not ended by an empty line"}}
		})},
		{"no closing boundary", strings.Replace(mixed(config), "--//--\n", "", 1), multi(func(d *Document) {
			d.Faults = []Fault{{Kind: BadMIME, Detail: "the closing boundary --//-- is missing"}}
		})},
		{"empty lines before the header", "\n\n" + mixed(config), multi(func(d *Document) {
			d.Faults = []Fault{{Kind: BadMIME, Line: 1, Detail: "empty lines or spaces stand before the header"}}
		})},
		{"what is behind the closing boundary is not read", strings.Replace(mixed(script, config), "echo hello\n", "echo hello\n--//--\n", 1),
			Document{Kinds: []Kind{Shell}, Multipart: true}},
		{"no boundary", strings.Replace(mixed(config), `; boundary="//"`, "", 1), Document{
			Multipart: true, Faults: []Fault{{Kind: BadMIME, Line: 1, Detail: "Content-Type names no boundary"}},
		}},
		{"no parts", mixed(), Document{Multipart: true}},
		{"a multi-part in a multi-part", mixed("multipart/mixed; boundary=in\n\n--in\nContent-Type: " + config + "--in--\n"), multi(func(d *Document) { d.Nested = true })},
		{"a part without a type", strings.Replace(mixed("x\n\n#!/bin/sh\n/etc/eks/bootstrap.sh prod\n"), "Content-Type: x\n", "", 1),
			Document{Kinds: []Kind{Bootstrap}, Multipart: true, Name: given("prod"), Calls: 1, Describes: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, []byte(tt.text), tt.want) })
	}
}

func FuzzMultipart(f *testing.F) {
	f.Add(mixed("application/node.eks.aws\n\n"+plain, "text/x-shellscript\n#!/bin/bash\n"))
	f.Add("Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/mixed; boundary=a\n\n--a\n--a--\n--a--")
	f.Fuzz(func(t *testing.T, text string) {
		newReader().multipart([]byte(text))
	})
}

func TestNodeConfig(t *testing.T) {
	const type1 = "application/node.eks.aws\n\n"
	const kubelet = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      maxPods: 110\n      clusterDNS: [169.254.20.10]\n    flags:\n    - --node-labels=team=b,x=y\n    - --max-pods=58\n"
	merged := func(d *Document) {
		d.Multipart = true
		d.DNS = []string{"169.254.20.10"}
		d.MaxPods = given("58")
		d.Flags = append(d.Flags, "--node-labels=team=b,x=y", "--max-pods=58")
		d.Labels = map[string]string{"team": "b", "eks.amazonaws.com/nodegroup": "workers", "x": "y"}
	}
	fault := func(f Fault) Document { return Document{Kinds: []Kind{NodeConfig}, Faults: []Fault{f}} }
	tests := []struct {
		name string
		text string
		want Document
	}{
		{"two parts: the later wins, flags add up", mixed(type1+plain, type1+kubelet), with(whole(), merged)},
		{"a second document in one part is not read", plain + "---\n" + kubelet, with(whole(), func(d *Document) { d.Later = 1 })},
		{"broken text behind the first document is not read either", plain + "---\na: [\n", with(whole(), func(d *Document) { d.Later = 1 })},
		{"a comment before the document", "# by Karpenter\n" + plain, whole()},
		{"JSON", `{"apiVersion":"node.eks.aws/v1alpha1","kind":"NodeConfig","spec":{"cluster":{"name":"prod"}}}`, Document{Kinds: []Kind{NodeConfig}, Name: given("prod")}},
		{"name servers and an expression", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  instance: {network: {nameservers: [10.0.0.2], domains: [corp]}}\n  kubelet: {maxPodsExpression: max_pods - 1}\n", Document{
			Kinds: []Kind{NodeConfig}, NameServers: []string{"10.0.0.2"}, MaxPodsExpression: "max_pods - 1",
		}},
		{"a drop-in wins", mixed("text/cloud-config\n\n#cloud-config\nwrite_files:\n- path: /etc/eks/nodeadm.d/1.yaml\n  content: |\n    apiVersion: node.eks.aws/v1alpha1\n    kind: NodeConfig\n    spec: {cluster: {name: b}}\n", "application/node.eks.aws\n\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {cluster: {name: a}}\n"), Document{
			Kinds: []Kind{CloudConfig, NodeConfig}, Multipart: true, Name: given("b"), Scripted: []string{"nodeadm"}, Speaks: true,
		}},
		{"anchors", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nx: &c {name: prod}\nspec:\n  cluster:\n    <<: *c\n", Document{Kinds: []Kind{NodeConfig}, Name: given("prod")}},
		{"a key twice: the last one", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {cluster: {name: a, name: b}}\n", Document{Kinds: []Kind{NodeConfig}, Name: given("b")}},
		{"other case: not the setting", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {cluster: {Name: a}}\n", Document{Kinds: []Kind{NodeConfig}}},
		{"misspelt version", "apiVersion: node.eks.aws/v1alpha\nkind: NodeConfig\n", fault(Fault{Kind: BadVersion, Line: 1, Detail: "apiVersion is not node.eks.aws/v1alpha1"})},
		{"a version of another day", "apiVersion: node.eks.aws/v1beta1\nkind: NodeConfig\n", fault(Fault{Kind: NewVersion, Line: 1, Detail: "apiVersion is not node.eks.aws/v1alpha1"})},
		{"misspelt kind", "apiVersion: node.eks.aws/v1alpha1\nkind: Nodeconfig\n", fault(Fault{Kind: BadKind, Line: 2, Detail: "kind is not NodeConfig"})},
		{"broken YAML", strings.Replace(plain, "spec:", "spec", 1), fault(Fault{Kind: BadYAML, Line: 4, Detail: "the NodeConfig is no valid YAML"})},
		{"a tab", strings.Replace(plain, "  cluster:", "\tcluster:", 1), fault(Fault{Kind: BadYAML, Line: 5, Detail: "the NodeConfig is no valid YAML"})},
		{"a list", "- apiVersion: node.eks.aws/v1alpha1\n", fault(Fault{Kind: BadYAML, Line: 1, Detail: "the NodeConfig is no mapping of keys to values"})},
		{"a name of digits without quotes", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: 123\n",
			fault(Fault{Kind: BadType, Line: 5, Detail: "spec.cluster.name is not a string"})},
		{"an empty name", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: \"\"\n", Document{Kinds: []Kind{NodeConfig}}},
		{"flags that are no list", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    flags: --x=y\n",
			fault(Fault{Kind: BadType, Line: 5, Detail: "spec.kubelet.flags is not a list of strings"})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, []byte(tt.text), tt.want) })
	}
}

func FuzzNodeConfig(f *testing.F) {
	f.Add(plain)
	f.Add("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nx: &a [*a]\nspec: {<<: *a}\n")
	f.Add("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: &s {cluster: *s, <<: [*s]}\n")
	f.Fuzz(func(t *testing.T, text string) {
		d := newReader()
		d.nodeConfig(text, 0)
		d.readFlags()
	})
}
