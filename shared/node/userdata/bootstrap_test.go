package userdata

import "testing"

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
