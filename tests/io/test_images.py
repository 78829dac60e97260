import numpy as np
import pytest
from PIL import Image

from rnlmf import io
from rnlmf.io import FileError
from rnlmf.io.images import PixelNames

MODES = {"L": (5, 7), "RGB": (5, 7, 3), "RGBA": (5, 7, 4), "LA": (5, 7, 2), "1": (5, 7), "I;16": (5, 7)}


def pictures(rng, mode, count=3):
    shape = MODES[mode]
    if mode == "1":
        return [Image.fromarray(rng.random(shape) < 0.5) for _ in range(count)]
    top, dtype = (60_000, np.uint16) if mode == "I;16" else (256, np.uint8)
    return [Image.fromarray(rng.integers(0, top, shape).astype(dtype)) for _ in range(count)]


@pytest.fixture
def folder(tmp_path, rng):
    path = tmp_path / "in"
    path.mkdir()
    for number, picture in enumerate(pictures(rng, "RGBA", 12), 1):
        picture.save(path / f"frame{number}.png", dpi=(300, 300))
    (path / "notes.txt").write_text("not an image")
    return path


def test_names_of_pixels_take_no_memory():
    names = PixelNames(1 << 20, 1 << 20, 3)
    assert len(names) == 3 << 40
    assert (names[0], names[-1]) == ("y0x0r", "y1048575x1048575b")


@pytest.mark.parametrize("channels", [1, 3])
def test_names_of_pixels_are_in_the_order_of_the_values(channels):
    colours = [""] if channels == 1 else ["r", "g", "b"]
    expected = [f"y{y}x{x}{colour}" for y in range(2) for x in range(3) for colour in colours]
    names = PixelNames(2, 3, channels)
    assert list(names) == expected
    assert names[1:4] == expected[1:4]


def test_names_in_natural_order_and_alpha_left_alone(folder, tmp_path):
    dataset = io.read(folder)
    assert dataset.sample_names == [f"frame{i}.png" for i in range(1, 13)]
    assert dataset.sample_shape == (5, 7, 3)
    assert len(dataset.names) == len(set(dataset.names)) == 105
    io.write(dataset, np.zeros_like(dataset.values), tmp_path / "out")
    for file in folder.glob("*.png"):
        with Image.open(file) as old, Image.open(tmp_path / "out" / file.name) as new:
            assert (new.mode, new.size) == ("RGBA", old.size)
            assert new.info["dpi"] == old.info["dpi"]
            np.testing.assert_array_equal(np.asarray(new)[..., 3], np.asarray(old)[..., 3])
            assert not np.asarray(new)[..., :3].any()


def test_images_in_which_nothing_changed_are_the_same_files(folder, tmp_path):
    dataset = io.read(folder)
    values = dataset.values.copy()
    values[3, 7] = 255 - values[3, 7]
    io.write(dataset, values, tmp_path / "out")
    same = {
        file.name: file.read_bytes() == (tmp_path / "out" / file.name).read_bytes()
        for file in folder.glob("*.png")
    }
    assert [name for name, equal in same.items() if not equal] == ["frame4.png"]


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_survives(tmp_path, rng, mode):
    folder = tmp_path / "in"
    folder.mkdir()
    images = pictures(rng, mode)
    for number, image in enumerate(images):
        image.save(folder / f"{number}.png")
    dataset = io.read(folder)
    io.write(dataset, dataset.values[::-1], tmp_path / "out")
    for number, image in enumerate(images[::-1]):
        with Image.open(tmp_path / "out" / f"{number}.png") as new:
            colours = np.atleast_3d(np.asarray(image)), np.atleast_3d(np.asarray(new))
            channels = 3 if mode in ("RGB", "RGBA") else 1
            np.testing.assert_array_equal(colours[0][..., :channels], colours[1][..., :channels])


@pytest.mark.parametrize("mode", ["L", "RGB", "I;16"])
def test_stacks(tmp_path, rng, mode):
    first, *others = pictures(rng, mode)
    first.save(tmp_path / "in.tiff", save_all=True, append_images=others)
    dataset = io.read(tmp_path / "in.tiff")
    assert dataset.values.shape == (3, int(np.prod(MODES[mode])))
    io.write(dataset, dataset.values, tmp_path / "out.tif")
    np.testing.assert_array_equal(io.read(tmp_path / "out.tif").source.pixels, dataset.source.pixels)
    io.write(dataset, dataset.values, tmp_path / "out")
    assert [file.name for file in sorted((tmp_path / "out").iterdir())] == ["1.png", "2.png", "3.png"]


def test_jpeg_comes_back_close(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    smooth = np.add.outer(np.arange(16), np.arange(16)).astype(np.uint8) * 4
    for number in range(2):
        Image.fromarray(smooth + number).save(folder / f"{number}.jpg")
    dataset = io.read(folder)
    io.write(dataset, dataset.values + 20.0, tmp_path / "out")
    assert np.abs(io.read(tmp_path / "out").values - dataset.values - 20.0).max() < 6


def test_images_to_arrays_and_back(folder, tmp_path):
    dataset = io.read(folder)
    io.write(dataset, dataset.values, tmp_path / "out.npy")
    array = np.load(tmp_path / "out.npy")
    assert array.dtype == np.uint8
    assert array.shape == (12, 5, 7, 3)
    again = io.read(tmp_path / "out.npy")
    io.write(again, again.values, tmp_path / "back")
    np.testing.assert_array_equal(io.read(tmp_path / "back").values, dataset.values)


def test_grey_levels_from_zero_to_one(tmp_path, rng):
    np.save(tmp_path / "in.npy", rng.random((3, 4, 5)))
    dataset = io.read(tmp_path / "in.npy")
    io.write(dataset, dataset.values, tmp_path / "out")
    assert np.abs(io.read(tmp_path / "out").values / 255 - dataset.values).max() < 0.5 / 255 + 1e-6
    with pytest.raises(FileError, match="no grey levels"):
        io.write(dataset, dataset.values - 0.5, tmp_path / "other")
    io.write(dataset, dataset.values - 0.5, tmp_path / "out.tiff")
    np.testing.assert_allclose(io.read(tmp_path / "out.tiff").values, dataset.values - 0.5, atol=1e-6)


@pytest.mark.parametrize(("count", "first", "last"), [(3, "1.png", "3.png"), (10, "01.png", "10.png")])
def test_images_without_names_are_numbered_from_one(tmp_path, rng, count, first, last):
    np.save(tmp_path / "in.npy", rng.integers(0, 256, (count, 4, 5), dtype=np.uint8))
    dataset = io.read(tmp_path / "in.npy")
    io.write(dataset, dataset.values, tmp_path / "out")
    names = sorted(file.name for file in (tmp_path / "out").iterdir())
    assert (len(names), names[0], names[-1]) == (count, first, last)


def test_bad_folders_are_refused(tmp_path, rng):
    with pytest.raises(FileError, match="has no images"):
        io.read(tmp_path)
    grey, colour = pictures(rng, "L")[0], pictures(rng, "RGB")[0]
    grey.save(tmp_path / "a.png")
    grey.resize((9, 5)).save(tmp_path / "b.png")
    with pytest.raises(FileError, match=r"b\.png is 9 x 5 pixels, but a\.png is 7 x 5"):
        io.read(tmp_path)
    colour.save(tmp_path / "b.png")
    with pytest.raises(FileError, match=r"b\.png is of mode RGB, but a\.png of L"):
        io.read(tmp_path)
    content = (tmp_path / "a.png").read_bytes()
    (tmp_path / "b.png").write_bytes(content[: len(content) // 2])
    with pytest.raises(FileError, match=r"b\.png: is not an image, or cut off"):
        io.read(tmp_path)
    with pytest.raises(FileError, match="pass the folder"):
        io.read(tmp_path / "a.png")


def test_a_table_is_no_folder_of_images(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n2,9\n")
    dataset = io.read(tmp_path / "t.csv")
    with pytest.raises(FileError, match="holds no images"):
        io.write(dataset, dataset.values, tmp_path / "out")


def test_a_stack_that_was_cut_off_is_refused(tmp_path, rng):
    path = tmp_path / "in.tiff"
    pictures = [Image.fromarray(rng.integers(0, 256, (20, 20)).astype(np.uint8)) for _ in range(12)]
    pictures[0].save(path, save_all=True, append_images=pictures[1:], compression="tiff_adobe_deflate")
    content = path.read_bytes()
    for share in np.linspace(0.2, 0.98, 30):
        path.write_bytes(content[: int(share * len(content))])
        with pytest.raises(FileError):
            io.read(path)


def test_transparency_of_a_palette_survives(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("1.png", "2.png"):
        picture = Image.fromarray(np.arange(16, dtype=np.uint8).reshape(4, 4), "L").convert("P")
        picture.save(folder / name, transparency=3)
    before = [np.asarray(Image.open(folder / name).convert("RGBA")) for name in ("1.png", "2.png")]
    dataset = io.read(folder)
    values = dataset.values.copy()
    values[0, 0] += 9
    io.write(dataset, values, tmp_path / "out")
    after = np.asarray(Image.open(tmp_path / "out" / "1.png").convert("RGBA"))
    np.testing.assert_array_equal(after[..., 3], before[0][..., 3])


def test_digits_that_are_no_numbers_in_a_name(tmp_path):
    for name in ("1²3.png", "2.png"):
        Image.fromarray(np.zeros((3, 3), np.uint8)).save(tmp_path / name)
    assert len(io.read(tmp_path).values) == 2


def test_whole_numbers_up_to_255_are_grey_levels(tmp_path):
    levels = np.array([[[0, 255], [7, 3]], [[1, 2], [3, 4]]])
    np.save(tmp_path / "in.npy", levels.astype(np.int32))
    dataset = io.read(tmp_path / "in.npy")
    io.write(dataset, dataset.values, tmp_path / "out")
    np.testing.assert_array_equal(io.read(tmp_path / "out").values, dataset.values)
    with pytest.raises(FileError, match="from 1 to 256"):
        io.write(dataset, dataset.values + 1, tmp_path / "other")


def test_a_stack_is_no_image_of_a_folder_and_an_image_is_no_stack(folder, tmp_path, rng):
    first, *others = pictures(rng, "L")
    first.save(tmp_path / "one.tiff")
    with pytest.raises(FileError, match="a single image"):
        io.read(tmp_path / "one.tiff")
    first.save(folder / "stack.tiff", save_all=True, append_images=others)
    with pytest.raises(FileError, match="a stack of images; pass it by itself"):
        io.read(folder)


def test_images_of_one_channel_are_written_grey(tmp_path, rng):
    np.save(tmp_path / "a.npy", rng.integers(0, 256, (3, 5, 7, 1)).astype(np.uint8))
    dataset = io.read(tmp_path / "a.npy")
    io.write(dataset, dataset.values, tmp_path / "out")
    written = sorted((tmp_path / "out").iterdir())
    assert len(written) == 3
    with Image.open(written[1]) as image:
        np.testing.assert_array_equal(np.asarray(image), np.load(tmp_path / "a.npy")[1, ..., 0])
