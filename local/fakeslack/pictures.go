package fakeslack

import (
	"encoding/json"
	"fmt"
	"strings"

	"rollcall/local/fakeslack/draw"
)

// checkPictures refuses blocks that show a file which the app does not have,
// or whose upload was not completed. The lock is held.
func (s *Server) checkPictures(raw json.RawMessage) error {
	var blocks []draw.Block
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
