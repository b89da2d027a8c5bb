//! Web pages instead of an answer, such as login pages and errors of proxies.

use super::plain_text::plain_line;

/// Returns true if bytes start like a web page.
pub(super) fn is_page(bytes: &[u8]) -> bool {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    start.trim_ascii_start().first() == Some(&b'<')
}

/// Returns the title of a page, or else its start without tags.
pub(super) fn title(bytes: &[u8]) -> String {
    let page = String::from_utf8_lossy(bytes);
    // ASCII lower case keeps the offsets.
    let lower = page.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|at| {
        let start = at + lower[at..].find('>')? + 1;
        let end = start + lower[start..].find("</title")?;
        Some(plain_line(&page[start..end], 120))
    });
    title.filter(|title| !title.is_empty()).unwrap_or_else(|| plain_line(&without_tags(&page), 120))
}

fn without_tags(page: &str) -> String {
    let texts = page.split('<').filter_map(|piece| Some(piece.split_once('>')?.1));
    texts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_described_by_its_title_or_its_text() {
        assert!(is_page(b"\xef\xbb\xbf\n <!DOCTYPE html>") && !is_page(b" {\"a\": 1}"));
        let page = b"<html><TITLE lang=en>502 Bad\nGateway</TITLE><body>x";
        assert_eq!(title(page), "502 Bad Gateway");
        assert_eq!(title(b"<h1>Please <b>log in</b></h1> now"), "Please log in now");
        assert_eq!(title(b"<title"), "");
    }
}
