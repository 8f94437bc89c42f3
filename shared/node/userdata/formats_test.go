package userdata

import "testing"

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
