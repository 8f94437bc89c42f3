package userdata

import "testing"

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
