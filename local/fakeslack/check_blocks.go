package fakeslack

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"rollcall/local/fakeslack/schema"
)

// checkBlocks holds blocks against Block Kit's rules. It returns them with a
// block_id for each, made by newID where the sender gave none.
func checkBlocks(raw json.RawMessage, newID func() string) (json.RawMessage, error) {
	var blocks []any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&blocks) != nil || dec.More() {
		return nil, &apiError{code: "invalid_blocks_format"}
	}
	if problems := schema.Problems(blocks); len(problems) > 0 {
		messages := make([]string, len(problems))
		for i, p := range problems {
			messages[i] = "[ERROR] " + p
		}
		return nil, &apiError{code: "invalid_blocks", messages: messages}
	}
	if len(blocks) == 0 {
		return nil, nil
	}
	size, err := schema.Encode(blocks)
	if err != nil {
		return nil, err
	}
	if utf8.RuneCount(size) > schema.MaxBlocksSize {
		return nil, &apiError{code: "msg_blocks_too_long"}
	}
	for _, b := range blocks {
		if block := b.(map[string]any); block["block_id"] == nil {
			block["block_id"] = newID()
		}
	}
	return schema.Encode(blocks)
}
