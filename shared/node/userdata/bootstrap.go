package userdata

import (
	"slices"
	"strings"
)

// shell reads a shell script.
func (d *reader) shell(script string) {
	before := d.Calls
	d.calls(script)
	d.DropIn = d.DropIn || strings.Contains(script, dropInFolder)
	if d.Calls == before {
		d.add(Shell)
		d.mention(script)
		return
	}
	if strings.Contains(script, "nodeadm") {
		d.scripted("nodeadm")
	}
}

// mention notes the means of joining that a text speaks of and that could not
// be followed: a file that is written and run later, a path in a variable.
// What runs text from elsewhere may do anything.
func (d *reader) mention(text string) {
	if !d.budget.spend(Work, len(text)) {
		return
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if strings.Contains(line, "nodeadm") {
			d.scripted("nodeadm")
		}
		for _, word := range []string{"kube", "eks", "cluster"} {
			d.Speaks = d.Speaks || strings.Contains(strings.ToLower(line), word)
		}
		if strings.Contains(line, "bootstrap") { // eksctl's is bootstrap.al2.sh
			d.scripted("bootstrap.sh")
		}
		for _, fetch := range []string{"curl ", "wget ", "aws s3", "ansible", "git clone", "source ", "apiclient"} {
			if strings.Contains(line, fetch) {
				d.scripted("a script from elsewhere")
			}
		}
	}
}

// calls follows the calls of /etc/eks/bootstrap.sh in a script. The last one
// wins: it writes the kubelet's settings anew.
func (d *reader) calls(script string) {
	for _, c := range d.budget.commands(script) {
		at := slices.IndexFunc(c.words, func(w string) bool { return strings.HasSuffix(w, "/etc/eks/bootstrap.sh") })
		if at < 0 {
			continue
		}
		if !runs(c.words[:at]) {
			d.scripted("bootstrap.sh") // edited, copied, made executable
			continue
		}
		d.add(Bootstrap)
		d.Calls++
		d.Branch = d.Branch || c.branch
		d.bootstrap(c.words[at+1:])
	}
}

// runs tells that a command's first words run what comes next.
func runs(words []string) bool {
	for _, w := range words {
		switch w {
		case "sudo", "exec", "bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash", "nohup", "time", "env", "source", ".", "!", "if", "then", "else", "do", "{", "command", "while", "until":
			continue
		}
		if strings.HasPrefix(w, "-") || strings.Contains(w, "=") {
			continue
		}
		return false
	}
	return true
}

// bootstrap reads the arguments as the script does (templates/al2/runtime/
// bootstrap.sh of github.com/awslabs/amazon-eks-ami): its flags take the next
// word, the first word that belongs to no flag is the cluster's name.
func (d *reader) bootstrap(args []string) {
	var name, endpoint, ca, cidr, family Setting
	var flags []string
	for i := 0; i < len(args); i++ {
		if !takesValue(args[i]) {
			if !name.Given {
				name = setting(args[i])
			}
			continue
		}
		if i+1 == len(args) {
			break
		}
		value := args[i+1]
		switch args[i] {
		case "--apiserver-endpoint":
			endpoint = setting(value)
		case "--b64-cluster-ca":
			ca = setting(value)
		case "--service-ipv6-cidr":
			cidr = setting(value)
		case "--ip-family":
			family = setting(strings.ToLower(value))
		case "--dns-cluster-ip":
			if s := setting(value); s.Known() {
				d.DNS = strings.Split(s.Value, ",")
			}
		case "--kubelet-extra-args":
			flags = d.budget.fields(value)
		}
		i++
	}
	if cidr.Given && !family.Given {
		family = Setting{Value: "ipv6", Given: true}
	}
	d.Name, d.Endpoint, d.CA, d.ServiceCIDR, d.Family, d.Flags = name, endpoint, ca, cidr, family, flags
	// Without both it asks EKS, and what was given of the two counts for nothing.
	d.Describes = missing(endpoint) || missing(ca)
}

func missing(s Setting) bool { return !s.Computed && s.Value == "" }

// takesValue tells the flags of bootstrap.sh.
func takesValue(flag string) bool {
	switch flag {
	case "--use-max-pods", "--b64-cluster-ca", "--apiserver-endpoint", "--kubelet-extra-args", "--enable-docker-bridge",
		"--aws-api-retry-attempts", "--docker-config-json", "--containerd-config-file", "--pause-container-account",
		"--pause-container-version", "--dns-cluster-ip", "--container-runtime", "--ip-family", "--service-ipv6-cidr",
		"--service-ipv4-cidr", "--enable-local-outpost", "--cluster-id", "--mount-bpf-fs", "--local-disks":
		return true
	}
	return false
}

// fields splits the kubelet's arguments; quotes within them hold together.
func (b *budget) fields(text string) []string {
	var list []string
	for _, c := range b.commands(strings.ReplaceAll(text, "\n", " ")) {
		list = append(list, c.words...)
	}
	return list
}
