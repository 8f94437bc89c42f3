package userdata

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

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
