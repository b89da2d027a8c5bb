//! Rasterizes egui's triangles on the CPU. Deterministic: equal meshes give equal pixels on every machine.
//!
//! Fixed-point edge functions with the top-left rule, so that triangles with a common edge neither overlap nor leave a
//! gap. Blends premultiplied colors in gamma space, like egui's own renderers.

use egui::epaint::{ClippedPrimitive, ImageData, ImageDelta, Primitive, Vertex};
use egui::{Color32, ColorImage, Rect, TextureFilter, TextureId, TexturesDelta, Vec2};
use image::RgbaImage;
use std::collections::HashMap;

/// Fractional bits of a coordinate.
const FRACTION: u32 = 8;

/// A rasterizer with the textures of its meshes.
#[derive(Default)]
pub(crate) struct Rasterizer {
    textures: HashMap<TextureId, Texture>,
}

struct Texture {
    image: ColorImage,
    is_smooth: bool,
}

impl Rasterizer {
    /// Applies the texture changes of a frame, which are independent of each other.
    pub(crate) fn update_textures(&mut self, delta: &mut TexturesDelta) {
        delta.set.iter().for_each(|(id, changes)| {
            changes.iter().for_each(|change| self.change(*id, change));
        });
        self.textures.retain(|id, _| !delta.free.contains(id));
        delta.clear();
    }

    fn change(&mut self, id: TextureId, change: &ImageDelta) {
        let ImageData::Color(image) = &change.image;
        match (change.pos, self.textures.get_mut(&id)) {
            (None, _) => {
                let is_smooth = change.options.magnification == TextureFilter::Linear;
                let image = ColorImage::clone(image);
                self.textures.insert(id, Texture { image, is_smooth });
            }
            (Some(at), Some(texture)) => patch(&mut texture.image, at, image),
            (Some(_), None) => {}
        }
    }

    /// Paints meshes on a background. `size` is in points.
    pub(crate) fn paint(
        &self,
        primitives: &[ClippedPrimitive],
        size: Vec2,
        pixels_per_point: f32,
        background: Color32,
    ) -> RgbaImage {
        let [width, height] =
            [size.x, size.y].map(|side| (side * pixels_per_point).round().max(1.0) as u32);
        let mut canvas = Canvas::new(width, height, background);
        for ClippedPrimitive { clip_rect, primitive } in primitives {
            let Primitive::Mesh(mesh) = primitive else {
                continue;
            };
            let Some(texture) = self.textures.get(&mesh.texture_id) else {
                continue;
            };
            canvas.clip_to(*clip_rect * pixels_per_point);
            for corners in mesh.indices.chunks_exact(3) {
                let corner = |i: usize| mesh.vertices.get(corners[i] as usize).copied();
                if let (Some(a), Some(b), Some(c)) = (corner(0), corner(1), corner(2)) {
                    canvas.fill([a, b, c], pixels_per_point, texture);
                }
            }
        }
        canvas.into_image()
    }
}

fn patch(target: &mut ColorImage, [x, y]: [usize; 2], source: &ColorImage) {
    let [width, height] = source.size;
    let stride = target.size[0];
    for row in 0..height {
        let to = (y + row) * stride + x;
        let from = row * width;
        if let (Some(to), Some(from)) =
            (target.pixels.get_mut(to..to + width), source.pixels.get(from..from + width))
        {
            to.copy_from_slice(from);
        }
    }
}

/// The image to paint on.
struct Canvas {
    pixels: Vec<[u8; 4]>,
    width: i64,
    height: i64,
    /// Left, top, right and bottom in pixels; right and bottom are exclusive.
    clip: [i64; 4],
}

impl Canvas {
    fn new(width: u32, height: u32, background: Color32) -> Self {
        let pixels = vec![background.to_array(); width as usize * height as usize];
        let (width, height) = (i64::from(width), i64::from(height));
        Self { pixels, width, height, clip: [0, 0, width, height] }
    }

    fn clip_to(&mut self, rect: Rect) {
        self.clip = [
            (rect.min.x.round() as i64).max(0),
            (rect.min.y.round() as i64).max(0),
            (rect.max.x.round() as i64).min(self.width),
            (rect.max.y.round() as i64).min(self.height),
        ];
    }

    fn fill(&mut self, mut corners: [Vertex; 3], pixels_per_point: f32, texture: &Texture) {
        let scale = pixels_per_point * (1 << FRACTION) as f32;
        // Far outside any screen, yet small enough for exact products of two values.
        let clamp = |c: f32| (c * scale).round().clamp(-1e9, 1e9) as i64;
        let fixed = |v: &Vertex| (clamp(v.pos.x), clamp(v.pos.y));
        if edge(fixed(&corners[0]), fixed(&corners[1]), fixed(&corners[2])) < 0 {
            corners.swap(1, 2);
        }
        let at = [fixed(&corners[0]), fixed(&corners[1]), fixed(&corners[2])];
        let area = edge(at[0], at[1], at[2]);
        if area == 0 {
            return;
        }
        let (xs, ys) = (at.map(|p| p.0), at.map(|p| p.1));
        let low = |v: [i64; 3]| v[0].min(v[1]).min(v[2]) >> FRACTION;
        let high = |v: [i64; 3]| (v[0].max(v[1]).max(v[2]) >> FRACTION) + 1;
        let (left, right) = (low(xs).max(self.clip[0]), high(xs).min(self.clip[2]));
        let (top, bottom) = (low(ys).max(self.clip[1]), high(ys).min(self.clip[3]));
        if left >= right || top >= bottom {
            return;
        }
        let shade = Shade::new(&corners, area, texture);
        let sides = [(at[1], at[2]), (at[2], at[0]), (at[0], at[1])];
        // Pixels exactly on an edge belong to the triangle whose top or left edge it is.
        let bias = sides.map(|(a, b)| if b.1 < a.1 || (b.1 == a.1 && b.0 > a.0) { 0 } else { -1 });
        let step_x = sides.map(|(a, b)| (a.1 - b.1) << FRACTION);
        let center = |i: i64| (i << FRACTION) + (1 << (FRACTION - 1));
        for y in top..bottom {
            let mut e = sides.map(|(a, b)| edge(a, b, (center(left), center(y))));
            let (mut first, mut end) = (0, right - left);
            for ((e, bias), step) in e.iter().zip(bias).zip(step_x) {
                let inside = e + bias;
                match step {
                    0 if inside < 0 => end = 0,
                    0 => {}
                    1.. => first = first.max((step - 1 - inside).div_euclid(step)),
                    _ => end = end.min(inside.div_euclid(-step) + 1),
                }
            }
            if first >= end {
                continue;
            }
            let row = y * self.width + left;
            let pixels = &mut self.pixels[(row + first) as usize..(row + end) as usize];
            match shade.flat {
                Some(color) if color[3] >= 255.0 => pixels.fill(blend([0; 4], color)),
                Some(color) => pixels.iter_mut().for_each(|it| *it = blend(*it, color)),
                None => {
                    e = std::array::from_fn(|i| e[i] + first * step_x[i]);
                    for pixel in pixels {
                        *pixel = blend(*pixel, shade.color(e));
                        e = [e[0] + step_x[0], e[1] + step_x[1], e[2] + step_x[2]];
                    }
                }
            }
        }
    }

    fn into_image(self) -> RgbaImage {
        let (width, height) = (self.width as u32, self.height as u32);
        RgbaImage::from_raw(width, height, self.pixels.into_flattened())
            .expect("as many bytes as pixels times four")
    }
}

/// Returns twice the signed area of a triangle; positive if the corners run clockwise on the screen.
fn edge(a: (i64, i64), b: (i64, i64), c: (i64, i64)) -> i64 {
    (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
}

/// The color of a triangle's pixels: corner colors times texture. Either one is often constant.
struct Shade<'a> {
    texture: &'a Texture,
    colors: [[f32; 4]; 3],
    uvs: [Vec2; 3],
    per_area: f32,
    /// The color, if it is constant.
    flat: Option<[f32; 4]>,
}

impl<'a> Shade<'a> {
    fn new(corners: &[Vertex; 3], area: i64, texture: &'a Texture) -> Self {
        let colors = corners.map(|v| v.color.to_array().map(f32::from));
        let uvs = corners.map(|v| v.uv.to_vec2());
        let is_flat = uvs[0] == uvs[1]
            && uvs[1] == uvs[2]
            && corners[0].color == corners[1].color
            && corners[1].color == corners[2].color;
        let flat = is_flat.then(|| multiply(colors[0], texture.sample(uvs[0])));
        Self { texture, colors, uvs, per_area: 1.0 / area as f32, flat }
    }

    /// Returns the color at a pixel if it is not constant. `weights` are the edge functions opposite each corner.
    fn color(&self, weights: [i64; 3]) -> [f32; 4] {
        let w = weights.map(|e| e as f32 * self.per_area);
        let mix = |i: usize| {
            w[0] * self.colors[0][i] + w[1] * self.colors[1][i] + w[2] * self.colors[2][i]
        };
        let uv = w[0] * self.uvs[0] + w[1] * self.uvs[1] + w[2] * self.uvs[2];
        multiply([mix(0), mix(1), mix(2), mix(3)], self.texture.sample(uv))
    }
}

fn multiply(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    [a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]]
}

/// Returns a pixel with a color over it.
fn blend(pixel: [u8; 4], color: [f32; 4]) -> [u8; 4] {
    let rest = 1.0 - color[3] / 255.0;
    let channel = |i: usize| (color[i] + f32::from(pixel[i]) * rest + 0.5).min(255.0) as u8;
    [channel(0), channel(1), channel(2), channel(3)]
}

impl Texture {
    /// Returns the texel at a position from 0 to 1, with components from 0 to 1.
    fn sample(&self, uv: Vec2) -> [f32; 4] {
        let [width, height] = self.image.size.map(|side| side as f32);
        if !self.is_smooth {
            return self.texel((uv.x * width).floor(), (uv.y * height).floor());
        }
        let (x, y) = (uv.x * width - 0.5, uv.y * height - 0.5);
        let (left, top) = (x.floor(), y.floor());
        let mix = |a: [f32; 4], b: [f32; 4], t: f32| {
            [0, 1, 2, 3].map(|i: usize| a[i] + (b[i] - a[i]) * t)
        };
        let row = |y: f32| mix(self.texel(left, y), self.texel(left + 1.0, y), x - left);
        mix(row(top), row(top + 1.0), y - top)
    }

    fn texel(&self, x: f32, y: f32) -> [f32; 4] {
        let [width, height] = self.image.size;
        let clamp = |v: f32, side: usize| (v.max(0.0) as usize).min(side.saturating_sub(1));
        let at = clamp(y, height) * width + clamp(x, width);
        let color = self.image.pixels.get(at).copied().unwrap_or(Color32::TRANSPARENT);
        color.to_array().map(|c| f32::from(c) / 255.0)
    }
}
