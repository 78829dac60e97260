"""The page in a real browser."""

import io
from contextlib import contextmanager

import numpy as np
import pytest
from PIL import Image

PAGES = ("images", "colour", "table", "clusters")
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture
def look(browser, reports):
    """Open a page; fails on anything in the console, and on any request but the page itself."""

    @contextmanager
    def look(name, viewport=DESKTOP, scheme="light"):
        page = browser.new_page(viewport=viewport, color_scheme=scheme)
        page.set_default_timeout(20_000)
        trouble = []
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda request: trouble.append(request.url[:100]))
        page.goto((reports / f"{name}.html").as_uri())
        page.wait_for_selector("html[data-ready=true]", state="attached")
        yield page
        loaded = [entry for entry in trouble if not entry.startswith(("data:", "blob:"))]
        page.close()
        assert loaded == [(reports / f"{name}.html").as_uri()]

    return look


def pixels(page, selector):
    element = page.locator(selector).first
    element.scroll_into_view_if_needed()
    return np.asarray(Image.open(io.BytesIO(element.screenshot())).convert("RGB"), dtype=float)


def drawn(page, selector):
    """Share of pixels that differ from the commonest colour."""
    flat = pixels(page, selector).reshape(-1, 3)
    commonest = np.bincount((flat @ [65536, 256, 1]).astype(int)).argmax()
    background = [commonest >> 16, (commonest >> 8) % 256, commonest % 256]
    return float((np.abs(flat - background).max(axis=1) > 30).mean())


def tab_names(page):
    return [tab.get_attribute("id").removeprefix("tab-") for tab in page.locator("[role=tab]").all()]


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(
    ("viewport", "scheme"),
    [
        pytest.param(DESKTOP, "light", id="desktop-light"),
        pytest.param(PHONE, "dark", id="phone-dark"),
        pytest.param(DESKTOP, "dark", id="desktop-dark", marks=pytest.mark.slow),
        pytest.param(PHONE, "light", id="phone-light", marks=pytest.mark.slow),
    ],
)
def test_every_tab_shows_something_and_fits(look, name, viewport, scheme):
    with look(name, viewport, scheme) as page:
        for tab in tab_names(page):
            page.click(f"#tab-{tab}")
            assert page.locator("[role=tabpanel]:visible").count() == 1
            assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
            for chart in page.locator(f"#panel-{tab} .chart").all():
                identity = chart.get_attribute("id")
                page.wait_for_selector(f"#{identity} .main-svg")
                assert drawn(page, f"#{identity}") > 0.01, identity
            for image in page.locator(f"#panel-{tab} img:visible").all()[:5]:
                assert image.evaluate("i => i.naturalWidth") > 0
        background = pixels(page, "header.page")[0, 0].mean()
        assert background < 60 if scheme == "dark" else background > 200


def test_what_was_drawn_before_fits_a_window_that_was_changed_since(look):
    with look("table") as page:
        tabs = tab_names(page)
        for tab in tabs:
            page.click(f"#tab-{tab}")
        page.set_viewport_size(PHONE)
        for tab in tabs:
            page.click(f"#tab-{tab}")
            for chart in page.locator(f"#panel-{tab} .chart").all():
                fits = "e => e.clientWidth === e.querySelector('.main-svg').clientWidth"
                page.wait_for_function(fits, arg=chart.element_handle())
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_words_above_a_table_are_not_cut(look):
    with look("table", PHONE) as page:
        for tab in ("columns", "settings"):
            page.click(f"#tab-{tab}")
            for words in page.locator(f"#panel-{tab} p.soft:visible, #panel-{tab} caption").all():
                assert words.evaluate("e => e.getBoundingClientRect().right") < PHONE["width"]


def test_tabs_by_keyboard(look):
    with look("table") as page:
        names = tab_names(page)
        page.focus(f"#tab-{names[0]}")
        for key, expected in [
            ("ArrowRight", names[1]),
            ("ArrowLeft", names[0]),
            ("ArrowLeft", names[-1]),
            ("Home", names[0]),
            ("End", names[-1]),
        ]:
            page.keyboard.press(key)
            selected = page.locator("[role=tab][aria-selected=true]")
            assert selected.get_attribute("id") == f"tab-{expected}"
            assert page.evaluate("document.activeElement.id") == f"tab-{expected}"
            assert page.locator(f"#panel-{expected}").is_visible()


def test_changes_can_be_sorted_found_and_downloaded(look):
    with look("table") as page:
        page.click("#tab-changes")

        def rows():
            return [text.split("\t")[0] for text in page.locator("#changes tbody tr").all_inner_texts()]

        assert rows()[0] == "10"
        page.click("#changes th:nth-child(1) .sort")
        assert rows() == ["5", "10", "18"]
        page.click("#changes th:nth-child(1) .sort")
        assert rows() == ["18", "10", "5"]
        page.fill("#filter", "filled")
        assert rows() == ["18"]
        with page.expect_download() as download:
            page.click("#download")
        lines = download.value.path().read_text().splitlines()
        assert lines[0] == "row,column,before,after,probability,kind"
        assert '18,q1,,"2,5",,filled' in lines


def test_a_change_is_seen_at_a_glance(look):
    with look("table") as page:
        page.click("#tab-changes")
        page.click("#changes th:nth-child(1) .sort")
        places = page.locator("#changes .glance").evaluate_all(
            "all => all.map(g => [g.querySelector('path').getAttribute('d').length > 0,"
            " g.querySelector('path').getBBox().x, g.querySelector('circle').cx.baseVal.value])"
        )
        assert [cross for cross, _, _ in places] == [True, True, False]
        # What was far off stands at the end, not outside of the page.
        assert places[0][2] < places[0][1] < 96
        small = page.locator("#changes tr[data-small]").all_inner_texts()
        assert [text.split("\t")[0] for text in small] == ["10"]


def test_charts_cannot_be_uploaded(look):
    with look("table") as page:
        page.wait_for_selector("#series .modebar-btn")
        titles = page.locator("#series .modebar-btn").evaluate_all("b => b.map(x => x.dataset.title)")
        assert not any("hare" in title or "loud" in title for title in titles)


def test_image_sliders(look):
    with look("images") as page:
        first = page.locator(".viewer img.before").first.get_attribute("src")
        name = page.inner_text("#pick-name")
        page.focus("#pick")
        page.keyboard.press("ArrowRight")
        assert page.inner_text("#pick-name") != name
        assert page.locator(".viewer img.before").first.get_attribute("src") != first
        assert page.locator("#samples button[aria-pressed=true]").count() == 1
        page.fill("#wipe", "0")
        noisy = pixels(page, ".compare")
        page.fill("#wipe", "100")
        cleaned = pixels(page, ".compare")
        assert np.abs(noisy - cleaned).max() > 30
        page.locator("#samples button").nth(5).click()
        assert page.input_value("#pick") == "5"


def test_all_images_before_after_and_removed(look):
    with look("images") as page:
        seen = []
        for choice in ("before", "after", "removed"):
            page.check(f"input[name=grid][value={choice}]")
            assert page.locator(f"#samples img.{choice}:visible").count() > 10
            assert page.locator("#samples img:visible").count() == page.locator("#samples li").count()
            seen.append(pixels(page, "#samples"))
        assert np.abs(seen[0] - seen[1]).max() > 30
        assert np.abs(seen[1] - seen[2]).max() > 30


def test_features_can_be_chosen(look):
    with look("table") as page:
        titles = set()
        for choice in range(3):
            page.select_option("#feature", str(choice))
            titles.add(page.text_content("#series .ytitle"))
            assert page.evaluate("document.getElementById('series').data[1].y.length") == 200
        assert len(titles) == 3


def test_samples_can_be_chosen(look):
    with look("table") as page:
        alts = set()
        for choice in range(3):
            page.select_option("#sample", str(choice))
            alts.add(page.get_attribute("#row", "aria-label"))
            after = page.evaluate("document.getElementById('row').data[1].y")
            assert len(after) == 12
            assert None not in after
        assert len(alts) == 3


def test_the_table_before_after_and_removed(look):
    with look("table") as page:
        before = pixels(page, "#heat")
        page.check("input[name=heat][value=removed]")
        page.wait_for_timeout(300)
        assert np.abs(pixels(page, "#heat") - before).max() > 30


def test_names_cannot_run_code(look):
    with look("images") as page:
        assert page.title() == "</script><script>document.title='owned'</script>"
    with look("table") as page:
        assert page.title() == "A table"
        assert "owned" in page.text_content("#feature")


def test_theme_can_be_switched(look):
    with look("table") as page:
        light = pixels(page, ".card").mean()
        page.click(".theme")
        assert pixels(page, ".card").mean() < light - 80
        assert page.inner_text(".theme") == "Light"


@pytest.mark.parametrize("name", PAGES)
def test_everything_has_a_name_for_those_who_do_not_see_it(look, name):
    with look(name) as page:
        assert page.locator("img:not([alt])").count() == 0
        for tab in tab_names(page):
            page.click(f"#tab-{tab}")
            for image in page.locator(f"#panel-{tab} img:visible").all()[:8]:
                assert image.get_attribute("alt")
            for chart in page.locator(f"#panel-{tab} .chart").all():
                assert len(chart.get_attribute("aria-label")) > 10
        unnamed = page.evaluate(
            "[...document.querySelectorAll('button, input, select')]"
            ".filter(e => !(e.labels?.length || e.innerText.trim() || e.ariaLabel"
            " || e.querySelector('img'))).length"
        )
        assert unnamed == 0


@pytest.mark.parametrize("name", ["images", "table"])
def test_print_shows_all_panels(look, name):
    with look(name) as page:
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("[role=tabpanel]:visible").count() == len(tab_names(page))
        assert not page.locator("[role=tablist]").is_visible()
        assert len(page.pdf()) > 20_000
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.emulate_media(media="screen")
        assert page.locator("[role=tabpanel]:visible").count() == 1


def test_without_script_the_words_and_images_are_there(browser, reports):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((reports / "images.html").as_uri())
    assert "were repaired." in page.inner_text(".words")
    assert page.locator("#samples img.after:visible").count() > 10
    context.close()
