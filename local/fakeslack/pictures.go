package fakeslack

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"
)

// fileObj is a Slack file object: docs.slack.dev/reference/block-kit/composition-objects/slack-file-object.
type fileObj struct {
	ID  string `json:"id"`
	URL string `json:"url"`
}

// fileID is the pattern that Slack names in its refusal (slackapi/python-slack-sdk issue 1521).
var fileID = regexp.MustCompile(`^[F][A-Z0-9]{8,}$`)

// slackFile is a file by its id or by its address, not by both.
func slackFile(v *validator, at string, value any) {
	o, ok := value.(map[string]any)
	if !ok {
		v.fail(at, "must be an object")
		return
	}
	v.object(at, o, schema{"url": {false, text(1, maxImageURL)}, "id": {false, func(v *validator, at string, value any) {
		if id, _ := value.(string); !fileID.MatchString(id) {
			v.fail(at, "input must match regex pattern: %s", fileID)
		}
	}}})
	if (o["id"] == nil) == (o["url"] == nil) {
		v.fail(at, "one of url and id is required")
	}
}

// checkPictures refuses blocks that show a file which the app does not have,
// or whose upload was not completed. The lock is held.
func (s *Server) checkPictures(raw json.RawMessage) error {
	var blocks []block
	if len(raw) == 0 || json.Unmarshal(raw, &blocks) != nil {
		return nil
	}
	for i, b := range blocks {
		if b.SlackFile == nil {
			continue
		}
		u := s.uploads[b.SlackFile.ID]
		if b.SlackFile.ID != "" && (u == nil || !u.shared || !strings.HasPrefix(u.Mimetype, "image/")) {
			return &apiError{code: "invalid_blocks", messages: []string{fmt.Sprintf("[ERROR] invalid slack file [json-pointer:/blocks/%d/slack_file/id]", i)}}
		}
	}
	return nil
}

// drawPicture draws an image block's picture; one of Slack's own opens large.
func drawPicture(b block) string {
	alt := html.EscapeString(b.AltText)
	if b.SlackFile != nil && fileID.MatchString(b.SlackFile.ID) {
		src := "/file/" + b.SlackFile.ID
		return `<a href="` + src + `" target="_blank" rel="noopener"><img src="` + src + `" alt="` + alt + `"></a>`
	}
	return `<img src="` + imageURL(b.ImageURL) + `" alt="` + alt + `">`
}
