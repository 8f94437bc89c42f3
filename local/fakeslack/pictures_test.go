package fakeslack

import (
	"bytes"
	"strings"
	"testing"

	"github.com/slack-go/slack"
)

// A picture that was uploaded into no channel is shown by a message.
func TestPictureInMessage(t *testing.T) {
	s, api := start(t, nil)
	png := []byte("\x89PNG\r\n\x1a\nrest")
	f, err := api.UploadFile(slack.UploadFileParameters{Reader: bytes.NewReader(png), FileSize: len(png), Filename: "chart.png"})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Messages(alerts)); n != 0 {
		t.Errorf("the upload alone said %d messages", n)
	}
	show := func(id string) slack.MsgOption {
		return slack.MsgOptionBlocks(slack.NewImageBlockSlackFile(&slack.SlackFileObject{ID: id}, "a chart", "", nil))
	}
	post(t, api, show(f.ID))
	if _, body := get(t, s.URL()+"/?static=1"); !strings.Contains(body, `<img src="/file/`+f.ID+`" alt="a chart">`) {
		t.Error("the page does not show the picture")
	}
	for name, id := range map[string]string{"unknown": "F0STAGE9999", "no id": "f1", "not complete": pending(t, api)} {
		if _, _, err := api.PostMessage(alerts, show(id)); code(err) != "invalid_blocks" {
			t.Errorf("%s: %v, want invalid_blocks", name, err)
		}
	}
	both := slack.NewImageBlockSlackFile(&slack.SlackFileObject{ID: f.ID, URL: "https://files.example/x.png"}, "x", "", nil)
	if _, _, err := api.PostMessage(alerts, slack.MsgOptionBlocks(both)); code(err) != "invalid_blocks" {
		t.Errorf("a file by id and by address: %v, want invalid_blocks", err)
	}
}

// pending is a file whose upload was begun only.
func pending(t *testing.T, api *slack.Client) string {
	t.Helper()
	u, err := api.GetUploadURLExternalContext(t.Context(), slack.GetUploadURLExternalParameters{FileName: "x.png", FileSize: 3})
	if err != nil {
		t.Fatal(err)
	}
	return u.FileID
}
