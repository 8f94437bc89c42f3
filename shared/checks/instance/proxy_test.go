package instance

import (
	"bytes"
	"compress/gzip"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/facts"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestProxied(t *testing.T) {
	const proxy = "#!/bin/bash\nexport HTTPS_PROXY=http://proxy:3128\n"
	own := func(data string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.UserData[0].Data = []byte(data) }
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte(proxy))
	_ = w.Close()
	for name, tt := range map[string]struct {
		change func(*snapshot.Snapshot)
		want   string
	}{
		"none":                 {own("#!/bin/bash\necho proxy\n"), ""},
		"in the user data":     {own(proxy), "i-0node"},
		"in small letters":     {own("#!/bin/bash\nexport https_proxy=x\n"), "i-0node"},
		"in gzip":              {own(zipped.String()), "i-0node"},
		"Bottlerocket":         {own("[settings.network]\nhttps-proxy = \"1.2.3.4:8080\"\n"), "i-0node"},
		"in the template only": {checktest.TemplateSays(proxy), "lt-0a"},
		"in another template": {func(s *snapshot.Snapshot) {
			s.LaunchTemplates = append(s.LaunchTemplates, snapshot.LaunchTemplate{ID: "lt-0other", UserData: []byte(proxy)})
		}, ""},
		"in another version": {func(s *snapshot.Snapshot) {
			s.LaunchTemplates[0].UserData, s.LaunchTemplates[0].Version = []byte(proxy), "99"
		}, ""},
		"of another instance": {func(s *snapshot.Snapshot) {
			s.UserData = append(s.UserData, snapshot.UserData{Instances: []string{"i-0other"}, Data: []byte(proxy)})
		}, ""},
		"the template by EC2's tag": {func(s *snapshot.Snapshot) {
			checktest.TemplateSays(proxy)(s)
			i := snapshottest.Instance(s, snapshottest.Node)
			i.Tags["aws:ec2launchtemplate:id"], i.Tags["aws:ec2launchtemplate:version"] = i.Template.ID, i.Template.Version
			i.Template = snapshot.TemplateRef{}
		}, "lt-0a"},
	} {
		s := startWorld(tt.change)
		if got := facts.NewView(s).Boot().Proxied([]*snapshot.Instance{snapshottest.Instance(s, snapshottest.Node)}); got != tt.want {
			t.Errorf("%s: proxied = %q, want %q", name, got, tt.want)
		}
	}
}
