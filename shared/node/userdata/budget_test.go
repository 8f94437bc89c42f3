package userdata

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
)

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
