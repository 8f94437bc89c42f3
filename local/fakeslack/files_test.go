package fakeslack

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"
)

func TestFileInThread(t *testing.T) {
	s, api := start(t, nil)
	ts := post(t, api, say("parent"))
	png := []byte("\x89PNG\r\n\x1a\nrest")
	f, err := api.UploadFile(slack.UploadFileParameters{
		Reader: bytes.NewReader(png), FileSize: len(png), Filename: "Chart.png", Title: "Launches",
		AltTxt: "a chart", Channel: alerts, ThreadTimestamp: ts, InitialComment: "by hour",
	})
	if err != nil {
		t.Fatalf("UploadFile: %v", err)
	}
	want := []File{{ID: f.ID, Name: "Chart.png", Title: "Launches", Mimetype: "image/png", AltText: "a chart", Size: len(png)}}
	r := s.Messages(alerts)[0].Replies
	if len(r) != 1 || r[0].Text != "by hour" {
		t.Fatalf("got replies %+v, want one with the comment", r)
	}
	if diff := cmp.Diff(want, r[0].Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if status, body := get(t, s.URL()+"/file/"+f.ID); status != 200 || body != string(png) {
		t.Errorf("got status %d and %q, want the picture", status, body)
	}
	if status, _ := get(t, s.URL()+"/files-pri/"+f.ID+"/chart.png"); status != http.StatusForbidden {
		t.Errorf("url_private without a token: got status %d, want 403", status)
	}
	var b bytes.Buffer
	if err := api.GetFile(s.URL()+"/files-pri/"+f.ID+"/chart.png", &b); err != nil || b.String() != string(png) {
		t.Errorf("GetFile: got %q, error %v", b.String(), err)
	}
	if _, err := api.UploadFile(slack.UploadFileParameters{
		Reader: bytes.NewReader(png), FileSize: len(png) + 1, Filename: "short.png", Channel: alerts,
	}); err == nil {
		t.Error("an upload of another length than announced was taken")
	}
}
